"""Put the shaders, their compiled SPIR-V and the examples of functions into the wheel.

Editable installations read ``glsl/`` from the checkout and compile on demand, so nothing is built for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShaderBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        archive = Path(self.directory) / "spirv.archive"
        archive.parent.mkdir(parents=True, exist_ok=True)
        # A process of its own: the build back end's process should not keep the package that it is building loaded.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)])}
        command = [sys.executable, "-m", "vkarray.command.compile_all", str(archive)]
        if subprocess.run(command, cwd=root, env=environment, check=False).returncode != 0:
            raise SystemExit(
                "Building a wheel of vkarray compiles its shaders, and that failed (see above). It needs glslangValidator: "
                "install glslang-tools, or install vkarray from a wheel that is already built."
            )
        build_data["force_include"] |= {
            str(root / "glsl"): "vkarray/_data/glsl",
            str(root / "docs" / "examples.toml"): "vkarray/_data/examples.toml",
            str(archive): "vkarray/_data/spirv.archive",
        }
