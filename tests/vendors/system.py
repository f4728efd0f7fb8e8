"""A Debian 13 in a folder, with Mesa's Vulkan drivers of all vendors and the stubs that stand for their hardware.

Its mounts are in a namespace of their own, so they are gone when a command has ended, however it ends.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from chips import BUILD

RELEASE = "trixie"
_MIRROR = "http://deb.debian.org/debian"
_PACKAGES = """mesa-vulkan-drivers libvulkan1 python3 python3-cffi dpkg-dev gcc g++ meson ninja-build pkgconf bison flex
    python3-mako python3-yaml python3-packaging libdrm-dev zlib1g-dev libexpat1-dev glslang-tools"""
# Intel's driver, AMD's and NVK are the package's, so that neither LLVM nor Rust is needed.
_OPTIONS = """--wrap-mode=nodownload --buildtype=release -Db_ndebug=true -Dc_args=-O1 -Dcpp_args=-O1
    -Dvulkan-drivers=freedreno,panfrost,broadcom -Dfreedreno-kmds=msm -Dtools=drm-shim,intel -Dgallium-drivers= -Dplatforms=
    -Dllvm=disabled -Dopengl=false -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dgles1=disabled -Dgles2=disabled
    -Dvideo-codecs= -Dvulkan-layers= -Dintel-rt=disabled -Dxmlconfig=disabled -Dvalgrind=disabled -Dlibunwind=disabled
    -Dbuild-tests=false"""
# What is built: manifests of drivers, by name, and stubs.
_BUILT_DRIVERS = {
    "adreno": "freedreno/vulkan/libvulkan_freedreno.so",
    "mali": "panfrost/vulkan/libvulkan_panfrost.so",
    "v3d": "broadcom/vulkan/libvulkan_broadcom.so",
}
_STUBS = (
    "intel/tools/libintel_noop_drm_shim.so", "drm-shim/libnouveau_noop_drm_shim.so",
    "freedreno/drm-shim/libfreedreno_noop_drm_shim.so", "panfrost/drm-shim/libpanfrost_noop_drm_shim.so",
    "broadcom/drm-shim/libv3d_noop_drm_shim.so",
)  # fmt: skip
# V3DV wants two abilities of the kernel that its stub does not claim.
_V3D_STUB = "src/broadcom/drm-shim/v3d_noop.c"
_V3D_ABILITY = "        case DRM_V3D_PARAM_SUPPORTS_PERFMON:"
_V3D_ABILITIES = "        case DRM_V3D_PARAM_SUPPORTS_MULTISYNC_EXT:\n        case DRM_V3D_PARAM_SUPPORTS_CPU_QUEUE:\n"
# Mesa builds the stub of nouveau with drivers that need Rust or Gallium alone.
_NOUVEAU_STUB = """
shared_library('nouveau_noop_drm_shim', '../nouveau/drm-shim/nouveau_noop.c',
  include_directories : [inc_include, inc_src], dependencies : dep_drm_shim, gnu_symbol_visibility : 'hidden')
"""
_ENTER = """
set -e
system=$1
mount --bind "$2" "$system/project"
mount -o remount,bind,ro "$system/project"
mount --bind "$3" "$system/spirv"
mount -o remount,bind,ro "$system/spirv"
mount -t proc proc "$system/proc"
mount -t tmpfs tmpfs "$system/dev/shm"
shift 3
exec chroot "$system" "$@"
"""


class System:
    """The system in a folder; `spirv` beside it is what its drivers compile."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.folder, self.project = folder, project
        self.root, self.spirv = folder / "system", folder / "spirv"
        self.spirv.mkdir(parents=True, exist_ok=True)

    def command(self, *words: str, settings: list[str] | None = None) -> list[str]:
        """The command that runs `words` inside, with the checkout as /project and the SPIR-V as /spirv."""
        given = ["HOME=/root", "LC_ALL=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"]
        given += ["PYTHONPATH=/project:/binding", "PYTHONDONTWRITEBYTECODE=1", *(settings or [])]
        enter = ["unshare", "--mount", "--propagation", "private", "bash", "-c", _ENTER, "enter"]
        return [*enter, str(self.root), str(self.project), str(self.spirv), "env", "-i", *given, *words]

    def set_up(self) -> None:
        """Do the steps that were not done yet. Raises SystemExit with the end of what a step said that failed."""
        if os.geteuid() != 0:
            raise SystemExit("vendors: making a system in a folder takes root (debootstrap and chroot).")
        for number, step in enumerate(_STEPS):
            done = self.folder / "setup" / f"{step.__name__}.done"
            if done.exists():
                continue
            for later in _STEPS[number:]:
                (done.parent / f"{later.__name__}.done").unlink(missing_ok=True)
            done.parent.mkdir(exist_ok=True)
            begin = time.monotonic()
            print(f"vendors: {step.__doc__} ...", file=sys.stderr)
            log = done.with_suffix(".log")
            log.unlink(missing_ok=True)
            try:
                step(self, functools.partial(_run, log))
            except (OSError, subprocess.CalledProcessError) as error:
                said = log.read_text()[-2000:] if log.exists() else ""
                raise SystemExit(f"{said}\nvendors: {error}; all it said is in {log}.") from error
            done.touch()
            print(f"vendors: {time.monotonic() - begin:.0f} s", file=sys.stderr)


Run = Callable[..., object]


def _run(log: Path, *words: str) -> None:
    with log.open("a") as output:
        subprocess.run(words, check=True, stdout=output, stderr=subprocess.STDOUT)


def base(system: System, run: Run) -> None:
    """a bare Debian 13, by debootstrap"""
    if system.root.exists():  # debootstrap does not go on where it was interrupted
        shutil.rmtree(system.root)
    mirror = next(_mirrors(), _MIRROR)
    run("debootstrap", "--variant=minbase", RELEASE, str(system.root), mirror)
    sources = "".join(f"{kind} {mirror} {RELEASE} main\n" for kind in ("deb", "deb-src"))
    (system.root / "etc/apt/sources.list").write_text(sources)
    for name in ("project", "spirv", "binding", "src", "dev/shm"):
        (system.root / name).mkdir(exist_ok=True)


def _mirrors() -> Iterator[str]:
    """The mirrors of Debian that this machine's apt is set up with."""
    for file in sorted([Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]):
        with contextlib.suppress(OSError):
            yield from re.findall(r"^(?:URIs:|deb\b).*?(\S+://\S+/debian/?)(?:\s|$)", file.read_text(), re.MULTILINE)


def packages(system: System, run: Run) -> None:
    """Mesa's drivers, and what building the others takes"""
    shutil.copy("/etc/resolv.conf", system.root / "etc/resolv.conf")
    run(*system.command("apt-get", "update"))
    run(*system.command("apt-get", "install", "--yes", "--no-install-recommends", *_PACKAGES.split()))
    run(*system.command("apt-get", "clean"))
    found = importlib.util.find_spec("vulkan")  # of pure Python, and no package of Debian's
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, system.root / "binding/vulkan", dirs_exist_ok=True)


def source(system: System, run: Run) -> None:
    """Mesa's source, with stubs that stand for more"""
    mesa = system.root / "src/mesa"
    shutil.rmtree(system.root / "src")
    mesa.parent.mkdir()
    run(*system.command("sh", "-c", "cd /src && apt-get source mesa && mv mesa-*/ mesa"))
    stub = mesa / _V3D_STUB
    text = stub.read_text()
    assert text.count(_V3D_ABILITY) == 1, f"{stub} has changed"
    stub.write_text(text.replace(_V3D_ABILITY, _V3D_ABILITIES + _V3D_ABILITY))
    with (mesa / "src/drm-shim/meson.build").open("a") as file:
        file.write(_NOUVEAU_STUB)


def configuration(system: System, run: Run) -> None:
    """Mesa's configuration"""
    shutil.rmtree(system.root / "src/build", ignore_errors=True)
    run(*system.command("meson", "setup", "/src/build", "/src/mesa", *_OPTIONS.split()))


def drivers(system: System, run: Run) -> None:
    """the drivers of Qualcomm, Arm and Broadcom, and the stubs"""
    libraries = [f"src/{path}" for path in (*_STUBS, *_BUILT_DRIVERS.values())]
    run(*system.command("nice", "ninja", "-C", "/src/build", "-j", "2", *libraries))
    for name, path in _BUILT_DRIVERS.items():
        library = {"library_path": f"{BUILD}/{path}", "api_version": "1.3.0"}
        manifest = {"file_format_version": "1.0.0", "ICD": library}
        (system.root / f"src/{name}.json").write_text(json.dumps(manifest))


_STEPS = (base, packages, source, configuration, drivers)
