"""`python -m vkarray.command.compile_all ARCHIVE`: compile every standard shader variant into the wheel's archive."""

from __future__ import annotations

import argparse
import time
from pathlib import Path


def main() -> int:
    """Write the archive named on the command line."""
    parser = argparse.ArgumentParser(description="Compile every standard shader variant into an archive of SPIR-V.")
    parser.add_argument("archive", type=Path, help="the file to write")
    parser.add_argument("--workers", type=int, default=2, help="compilers at work at once (default: 2)")
    arguments = parser.parse_args()

    from vkarray.command import catalogue
    from vkarray.shaders import build

    start = time.perf_counter()
    count = build.write_archive(catalogue.standard_variants(), arguments.archive, arguments.workers)
    size = arguments.archive.stat().st_size
    print(f"{count} shaders, {size / 1e6:.1f} MB, {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
