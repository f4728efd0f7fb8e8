"""The dev script's own work: help, what it installs, and what it says on a system that it does not know."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "dev"
TOOLS = ("bash", "cat", "dirname", "env", "sha256sum", "false", "cp", "ln", "mkdir", "readlink", "tee", "true")


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A folder to be the whole PATH: the few tools that the script needs, without a package manager."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool) or pytest.fail(f"{tool} is not installed"))
    return folder


def dev(commands: Path, *arguments: str, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(commands), "HOME": str(commands), "LOG": str(commands / "log")}
    if (commands / "python").exists():
        environment["PYTHON"] = str(commands / "python")
    bash = str(commands / "bash")
    return subprocess.run([bash, str(script), *arguments], env=environment, capture_output=True, text=True, check=False)


def fake(commands: Path, name: str, body: str) -> None:
    path = commands / name
    path.write_text(f"#!{commands / 'bash'}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_help_lists_every_command(commands: Path) -> None:
    done = dev(commands, "help")
    assert done.returncode == 0
    cases = SCRIPT.read_text(encoding="utf-8").partition("case $command in")[2]
    names = re.findall(r"^    ([a-z]+)(?: \|.*)?\)", cases, re.MULTILINE)
    assert {"demo", "test", "lint", "docs", "wheel", "setup", "help"} <= set(names)
    assert all(f"\n  {name} " in done.stdout for name in names)


def test_unknown_command_is_named(commands: Path) -> None:
    done = dev(commands, "nonsense")
    assert done.returncode == 1
    assert "unknown command 'nonsense'" in done.stderr


def test_unknown_system_is_told_what_is_missing(commands: Path) -> None:
    done = dev(commands, "demo")
    assert done.returncode == 1
    assert "glslangValidator" in done.stderr
    assert "own package manager" in done.stderr


def test_only_missing_packages_are_installed(commands: Path) -> None:
    fake(commands, "dpkg-query", '[[ ${*: -1} == glslang-tools ]] && printf "not-installed" || printf "installed"')
    fake(commands, "apt-get", 'printf "%s\\n" "$*" >>"$LOG"; [[ $1 == update ]]')  # stops at `install`
    fake(commands, "sudo", 'exec "$@"')
    done = dev(commands, "demo")
    assert done.returncode != 0
    assert "installing system packages: glslang-tools\n" in done.stderr
    lines = (commands / "log").read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in lines] == ["update", "install"]
    assert [word for word in lines[1].split()[1:] if not word.startswith("-")] == ["glslang-tools"]


def test_a_failed_installation_says_what_is_needed(commands: Path) -> None:
    fake(commands, "dpkg-query", 'printf "not-installed"')
    fake(commands, "apt-get", "exit 100")
    fake(commands, "sudo", 'exec "$@"')
    done = dev(commands, "demo")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "dev: that failed (see above), and these packages are needed: libvulkan1 mesa-vulkan-drivers glslang-tools python3-venv."
    )


@pytest.fixture
def checkout(commands: Path, tmp_path: Path) -> Path:
    """A checkout with system packages in place and a Python that only writes down what it is asked."""
    fake(commands, "dpkg-query", 'printf "installed"')
    fake(commands, "apt-get", "exit 1")
    fake(
        commands,
        "python",
        """case "$*" in
            *ensurepip*) ;;
            *"import pip"*) [[ -f ${0%/*}/has-pip ]] ;;
            "-m venv"*) mkdir -p "${@: -1}/bin" && ln -sf "$PYTHON" "${@: -1}/bin/python" && : >"${@: -1}/bin/has-pip" ;;
            "-m pip install"*) printf "%s\n" "$*" >>"$LOG"; [[ ! -e $HOME/offline ]] ;;
        esac""",
    )
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("dev", "pyproject.toml", "hatch_build.py"):
        shutil.copy(SCRIPT.parent / name, folder)
    return folder


def installations(commands: Path) -> int:
    log = commands / "log"
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def test_python_packages_are_installed_once(commands: Path, checkout: Path) -> None:
    assert dev(commands, "demo", script=checkout / "dev").returncode == 0
    assert installations(commands) == 1
    assert dev(commands, "demo", script=checkout / "dev").stderr == ""
    assert installations(commands) == 1
    with (checkout / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# another dependency\n")
    assert "installing into .venv: vkarray[demo]" in dev(commands, "demo", script=checkout / "dev").stderr
    assert installations(commands) == 2
    # The interpreter behind .venv was replaced, as when the system is upgraded.
    shutil.copy(commands / "python", commands / "newer")
    (checkout / ".venv/bin/python").unlink()
    (checkout / ".venv/bin/python").symlink_to(commands / "newer")
    assert dev(commands, "demo", script=checkout / "dev").returncode == 0
    assert installations(commands) == 3


def test_what_the_tests_need_is_enough_for_the_demo(commands: Path, checkout: Path) -> None:
    assert dev(commands, "setup", script=checkout / "dev").returncode == 0
    assert installations(commands) == 1
    (commands / "offline").touch()
    done = dev(commands, "demo", script=checkout / "dev")
    assert (done.returncode, done.stderr) == (0, "")
    assert dev(commands, "docs", script=checkout / "dev").returncode == 1


def test_without_a_network_the_command_can_be_repeated(commands: Path, checkout: Path) -> None:
    (commands / "offline").touch()
    done = dev(commands, "demo", script=checkout / "dev")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("takes a network; run the command again once there is one.")
    (commands / "offline").unlink()
    assert dev(commands, "demo", script=checkout / "dev").returncode == 0
    assert installations(commands) == 2
