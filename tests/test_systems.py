"""What Windows and macOS do otherwise: an ordinary program without the parts of Python that they lack, where files are, what
messages advise. The program runs from a package with an archive of its shaders.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from vkarray import configuration, errors
from vkarray._vk import loader

ROOT = Path(__file__).parent.parent

PROGRAM = """
import vkarray as vx

x, y = vx.asarray([1.0, 2.0]), vx.asarray([3.0, 5.0])
assert (x + y).tolist() == [4.0, 7.0]
vx.save("x.npy", x + y)
vx.savez("x.npz", x=x, y=y, compressed=True)
assert vx.load("x.npy").tolist() == [4.0, 7.0]
assert vx.load("x.npz")["y"].tolist() == [3.0, 5.0]
assert float(vx.sum(x)) == 3.0
"""

WITH_COMPILER = f"""
{PROGRAM}
import sys
from pathlib import Path
from vkarray.shaders import build
from vkarray.shaders import source as shaders

build.write_archive({{part for one in shaders._compiled for part in one.parts}}, Path(sys.argv[1], "spirv.archive"))
"""

# Of systems: what their `os` lacks, as prefixes and names, and which modules are missing.
LACKS = {
    "Windows": (
        """sched_ posix_ W P_ RTLD_ SCHED_ ST_ PRIO_ F_ GRND_ EFD_ SPLICE_ POSIX_""",
        """pread preadv pwrite pwritev readv writev sendfile splice copy_file_range fork forkpty register_at_fork uname getuid
        geteuid getgid getegid getgroups getgrouplist getresuid getresgid getpgid getpgrp getsid getpriority getloadavg setuid
        seteuid setgid setegid setgroups setpgid setsid nice killpg wait wait3 wait4 waitid sysconf confstr pathconf fpathconf
        statvfs fstatvfs sync fdatasync fchmod fchown fchdir chown lchown chroot mkfifo mknod major minor makedev openpty ttyname
        ctermid tcgetpgrp tcsetpgrp pipe2 lockf memfd_create eventfd getrandom pidfd_open getxattr setxattr listxattr
        removexattr O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_SYNC O_DSYNC O_RSYNC O_NOCTTY O_ASYNC O_DIRECT O_NOATIME
        O_PATH O_TMPFILE""",
        "fcntl grp posix pty pwd resource syslog termios tty",
    ),
    "macOS": (
        "sched_get sched_set sched_rr posix_fa GRND_ EFD_ SPLICE_ MFD_ POSIX_FADV SCHED_B SCHED_I",
        """copy_file_range splice fdatasync pipe2 memfd_create eventfd getrandom pidfd_open getxattr setxattr listxattr removexattr
        getresuid getresgid setresuid setresgid O_DIRECT O_NOATIME O_PATH O_TMPFILE O_LARGEFILE O_RSYNC RTLD_DEEPBIND""",
        "ossaudiodev spwd",
    ),
}

# Third-party packages and the standard library come first: theirs for these systems do without what is taken away here. No
# other system has /proc.
WITHOUT = f"""
import ast, bisect, contextlib, ctypes, io, mmap, os, pathlib, shutil, socket, stat, struct
import subprocess, sys, tempfile, threading, zipfile
from pathlib import Path

import numpy, vulkan

prefixes, names, modules = (text.split() for text in sys.argv[2:])
for name in dir(os):
    if name in names or name.startswith(tuple(prefixes)):
        delattr(os, name)
for name in modules:
    sys.modules[name] = None
read = Path.read_text
Path.read_text = lambda self, *given, **named: read(Path("/nowhere") if self.parts[1:2] == ("proc",) else self, *given, **named)

import vkarray
from vkarray.__main__ import main
from vkarray.shaders import compiler, files, shipped

assert compiler.executable() is None, "the test needs a PATH without compiler"
files.PACKAGE = Path(sys.argv[1]).parent
assert files.source_folder() == Path(sys.argv[1], "glsl"), "the test needs the sources of the package"
{PROGRAM}
assert not shipped.damage(), shipped.damage()
assert vx.cache_stats()["spirv"]["hits"], "nothing came out of the archive"
assert vx.cache_stats()["pipelines"]["compiles"]
assert main(["devices"]) == 0
assert main(["info"]) == 0
"""


def run(program: str, folder: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error", "-c", program, folder / "vkarray" / "_data", *arguments],
        cwd=folder, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("cp1252")


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A folder with the data of a package: sources, and an archive of what the program needs."""
    folder = tmp_path_factory.mktemp("package")
    data = folder / "vkarray" / "_data"
    data.mkdir(parents=True)
    (data / "glsl").symlink_to(ROOT / "glsl")
    run(WITH_COMPILER, folder, ENVIRONMENT)
    return folder


ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


@pytest.mark.parametrize("system", LACKS)
def test_a_program_without_what_a_system_lacks(system: str, package: Path) -> None:
    """Also where the console's encoding is not UTF-8, as on Windows when output goes into a file."""
    (package / "bin").mkdir(exist_ok=True)
    cache = package / system
    without = {"PATH": str(package / "bin"), "VKARRAY_CACHE": str(cache), "PYTHONIOENCODING": "cp1252"}
    said = run(WITHOUT, package, ENVIRONMENT | without, *LACKS[system])
    assert "driver" in said
    assert any(cache.rglob("*")), "nothing was cached"


def test_what_is_taken_away_is_there_to_be_taken() -> None:
    """Of each system's table most names exist here, so that taking them away says something."""
    for system, (_, names, _) in LACKS.items():
        found = [name for name in names.split() if hasattr(os, name)]
        assert len(found) > len(names.split()) * 0.7, f"{system}: {set(names.split()) - set(found)}"


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/vkarray"),
        ("win32", {}, "/home/AppData/Local/vkarray"),
        ("darwin", {}, "/home/Library/Caches/vkarray"),
        ("darwin", {"XDG_CACHE_HOME": "/cache"}, "/cache/vkarray"),
        ("linux", {"LOCALAPPDATA": "/local"}, "/home/.cache/vkarray"),
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/vkarray"),
        ("linux", {"XDG_CACHE_HOME": "here"}, "/home/.cache/vkarray"),
        ("linux", {"XDG_CACHE_HOME": ""}, "/home/.cache/vkarray"),
        ("freebsd14", {}, "/home/.cache/vkarray"),
    ],
)
def test_where_the_cache_is(monkeypatch, system, variables, expected) -> None:
    monkeypatch.setattr(configuration, "sys", SimpleNamespace(platform=system))
    monkeypatch.setattr(configuration, "os", SimpleNamespace(environ=variables, path=os.path))
    monkeypatch.setattr(configuration.Path, "home", lambda: Path("/home"))
    assert configuration._default_cache() == Path(expected)


FOREIGN = {
    "win32": ("apt install", "brew install", ".so"),
    "darwin": ("apt install", ".dll", ".so"),
    "linux": ("brew install", ".dll"),
}


@pytest.mark.parametrize("system", FOREIGN)
def test_messages_advise_what_the_system_can_do(monkeypatch, system) -> None:
    monkeypatch.setattr(errors, "sys", SimpleNamespace(platform=system))
    for missing, texts in errors.REMEDIES.items():
        assert set(texts) == set(FOREIGN), f"{missing} says nothing for some system"
        text = errors.remedy(missing)
        assert text == texts[system]
        assert not any(word in text for word in FOREIGN[system]), text


def test_other_systems_are_advised_like_linux(monkeypatch) -> None:
    monkeypatch.setattr(errors, "sys", SimpleNamespace(platform="freebsd14"))
    assert errors.remedy("loader") == errors.REMEDIES["loader"]["linux"]


# -- the loader in places where a system does not look --------------------------------------------------------------------

PLACES = [
    ("darwin", "sdk/lib/libvulkan.1.dylib", "homes/VulkanSDK/1.4.328.1/macOS/lib/libvulkan.1.dylib"),
    (
        "darwin",
        "homes/VulkanSDK/1.4.328.1/macOS/lib/libvulkan.1.dylib",
        "homes/VulkanSDK/1.4.99.0/macOS/lib/libvulkan.1.dylib",
    ),
    ("darwin", "homes/VulkanSDK/1.4.99.0/macOS/lib/libvulkan.dylib", "sdk/lib/libMoltenVK.dylib"),
    ("darwin", "sdk/lib/libMoltenVK.dylib", None),
    ("linux", "prefix/lib/libvulkan.so.1", "prefix/lib/libvulkan.1.dylib"),
    ("win32", "prefix/Library/bin/vulkan-1.dll", "prefix/lib/vulkan-1.dll"),
]


@pytest.mark.parametrize(("system", "found", "passed_over"), PLACES)
def test_where_the_loader_is_looked_for(monkeypatch, tmp_path, system, found, passed_over) -> None:
    monkeypatch.setattr(loader, "sys", SimpleNamespace(platform=system, prefix=str(tmp_path / "prefix")))
    monkeypatch.setenv("VULKAN_SDK", str(tmp_path / "sdk"))
    monkeypatch.setenv("HOME", str(tmp_path / "homes"))
    for place in filter(None, (found, passed_over)):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    assert next(loader.candidates()) == tmp_path / found


def test_nothing_is_found_where_nothing_is(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(loader, "sys", SimpleNamespace(platform="linux", prefix=str(tmp_path)))
    assert list(loader.candidates()) == []
    with pytest.raises(OSError, match="usual places"), loader.in_usual_places():
        pass


FROM_A_USUAL_PLACE = """
import importlib.util, os, sys
from pathlib import Path

class Refusing:
    "The binding's ffi on a system that finds no library by its name alone."
    def __init__(self, ffi): self.ffi = ffi
    def __getattr__(self, name): return getattr(self.ffi, name)
    def dlopen(self, name, flags=0):
        if not os.path.isabs(name): raise OSError(f"{name}: not found")
        return self.ffi.dlopen(name, flags)

folder = importlib.util.find_spec("vulkan").submodule_search_locations[0]
specification = importlib.util.spec_from_file_location("vulkan._vulkancache", os.path.join(folder, "_vulkancache.py"))
definitions = importlib.util.module_from_spec(specification)
specification.loader.exec_module(definitions)
sys.modules["vulkan._vulkancache"] = definitions
definitions.ffi = Refusing(definitions.ffi)

from vkarray._vk import loader
loader.candidates = lambda: iter([Path(sys.argv[1])])
import vkarray as vx
assert (vx.asarray([1, 2]) + 1).tolist() == [2, 3]
print(os.environ.get("VK_ADD_DRIVER_FILES"))
"""


@pytest.mark.parametrize("chosen", [False, True])
def test_a_loader_in_a_usual_place_is_opened_with_its_drivers(tmp_path, chosen) -> None:
    library = next((path for path in Path("/usr/lib").glob("*/libvulkan.so.1")), None)
    if library is None:
        pytest.skip("there is no /usr/lib/*/libvulkan.so.1 to copy")
    (tmp_path / "lib").mkdir()
    shutil.copy(library, tmp_path / "lib" / "libvulkan.so.1")
    drivers = tmp_path / "share" / "vulkan" / "icd.d"
    drivers.mkdir(parents=True)
    (drivers / "MoltenVK_icd.json").write_text('{"file_format_version": "1.0.0", "ICD": {"library_path": "nothing"}}')
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in loader._CHOSEN}
    if chosen:
        environment["VK_ADD_DRIVER_FILES"] = "own"
    done = subprocess.run(
        [sys.executable, "-c", FROM_A_USUAL_PLACE, tmp_path / "lib" / "libvulkan.so.1"], env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ("own" if chosen else str(drivers / "MoltenVK_icd.json"))


# -- paths ------------------------------------------------------------------------------------------------------------------

_NOT_ON_WINDOWS = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{kind}{number}" for kind in ("com", "lpt") for number in range(1, 10)),
}


def test_paths_are_good_on_every_system() -> None:
    """No two differ by case alone, and none is a device or has a character that Windows forbids."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this is no checkout")
    paths = done.stdout.decode().rstrip("\0").split("\0")
    lower = [path.lower() for path in paths]
    assert len(set(lower)) == len(lower), "paths differ by case alone"
    for path in paths:
        parts = Path(path.lower()).parts
        assert not any(part.partition(".")[0] in _NOT_ON_WINDOWS or part.endswith((".", " ")) for part in parts), path
        assert not set(path) & set('<>:"|?*\\'), path
        assert len(path) < 160, f"{path} is long for Windows, whose paths have at most 259 characters"
