"""Values in and out: NumPy, text, DLPack, files."""
