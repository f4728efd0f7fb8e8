"""From a template and its defines to SPIR-V: source, compiler, archive."""
