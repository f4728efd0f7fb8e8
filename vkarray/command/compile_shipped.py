"""`python -m vkarray.command.compile_shipped`: compile the shaders that need a newer compiler into `glsl/compiled/`.

The modules travel with the sources, because `glslangValidator` of Debian 12 does not know cooperative matrices; version
16 does, those of bfloat16 too. Run this after a change of such a shader: a test fails until it is done.
"""

from __future__ import annotations


def main() -> int:
    """Compile them with the `glslangValidator` that is found first."""
    from vkarray.command import catalogue
    from vkarray.shaders import build, compiler

    count = build.write_shipped(catalogue.shipped_variants())
    print(f"{count} shaders by {compiler.version()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
