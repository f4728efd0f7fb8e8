"""`spirv-val`, which says what is wrong with a module of SPIR-V, where it is installed."""

from __future__ import annotations

import shutil
import struct
import subprocess

import pytest

_COMMAND = shutil.which("spirv-val")
needs_validator = pytest.mark.skipif(_COMMAND is None, reason="spirv-val (spirv-tools) is not installed")


def complaint(code: bytes | tuple[int, ...], target: str = "vulkan1.2") -> str:
    """What the validator says of a module, in bytes or words; nothing where it is valid, or there is no validator."""
    if _COMMAND is None:
        return ""
    given = code if isinstance(code, bytes) else struct.pack(f"<{len(code)}I", *code)
    command = [_COMMAND, "--scalar-block-layout", "--target-env", target, "-"]
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    return (done.stdout + done.stderr).decode() if done.returncode else ""
