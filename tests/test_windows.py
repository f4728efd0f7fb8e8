"""An ordinary program without the parts of Python that Windows' lacks, from a package with an archive of its shaders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from vkarray import configuration

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

# Third-party packages and the standard library come first: theirs for Windows do without what is taken away here.
WITHOUT_POSIX = f"""
import ast, bisect, contextlib, ctypes, mmap, os, shutil, socket, stat, struct, subprocess, sys, tempfile, threading, zipfile
from pathlib import Path

import numpy, vulkan

PREFIXES = ("sched_", "posix_", "W", "P_", "RTLD_", "SCHED_", "ST_", "PRIO_", "F_", "GRND_", "EFD_", "SPLICE_", "POSIX_")
NAMES = '''
    pread preadv pwrite pwritev readv writev sendfile splice copy_file_range fork forkpty register_at_fork uname getuid geteuid
    getgid getegid getgroups getgrouplist getresuid getresgid getpgid getpgrp getsid getpriority getloadavg setuid seteuid
    setgid setegid setgroups setpgid setsid nice killpg wait wait3 wait4 waitid sysconf confstr pathconf fpathconf statvfs
    fstatvfs sync fdatasync fchmod fchown fchdir chown lchown chroot mkfifo mknod major minor makedev openpty ttyname ctermid
    tcgetpgrp tcsetpgrp pipe2 lockf memfd_create eventfd getrandom pidfd_open getxattr setxattr listxattr removexattr
    O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_SYNC O_DSYNC O_RSYNC O_NOCTTY O_ASYNC O_DIRECT O_NOATIME O_PATH O_TMPFILE
'''.split()
for name in dir(os):
    if name in NAMES or name.startswith(PREFIXES):
        delattr(os, name)
for name in ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None

import vkarray
from vkarray import configuration
from vkarray.shaders import source as shaders

assert shaders.compiler() is None, "the test needs a PATH without compiler"
shaders._PACKAGE = Path(sys.argv[1]).parent
assert shaders.source_folder() == Path(sys.argv[1], "glsl"), "the test needs the sources of the package"
{PROGRAM}
assert not shaders.damage(), shaders.damage()
assert vx.cache_stats()["spirv"]["hits"], "nothing came out of the archive"
assert vx.cache_stats()["pipelines"]["compiles"]
"""


def run(program: str, folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error", "-c", program, folder / "vkarray" / "_data"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_program_without_what_windows_lacks(tmp_path: Path) -> None:
    data = tmp_path / "vkarray" / "_data"
    data.mkdir(parents=True)
    (data / "glsl").symlink_to(ROOT / "glsl")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    run(WITH_COMPILER, tmp_path, environment)
    (tmp_path / "bin").mkdir()
    without = {"PATH": str(tmp_path / "bin"), "VKARRAY_CACHE": str(tmp_path / "cache")}
    run(WITHOUT_POSIX, tmp_path, environment | without)


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("nt", {"LOCALAPPDATA": "/local"}, "/local/vkarray"),
        ("nt", {}, "/home/.cache/vkarray"),
        ("posix", {"LOCALAPPDATA": "/local"}, "/home/.cache/vkarray"),
        ("posix", {"XDG_CACHE_HOME": "/cache"}, "/cache/vkarray"),
        ("posix", {"XDG_CACHE_HOME": "here"}, "/home/.cache/vkarray"),
        ("posix", {"XDG_CACHE_HOME": ""}, "/home/.cache/vkarray"),
    ],
)
def test_where_the_cache_is(monkeypatch, system, variables, expected) -> None:
    monkeypatch.setattr(configuration, "os", SimpleNamespace(name=system, environ=variables, path=os.path))
    monkeypatch.setattr(configuration.Path, "home", lambda: Path("/home"))
    assert configuration._default_cache() == Path(expected)
