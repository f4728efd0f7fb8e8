"""The command line: what it prints, its exit statuses, and that its errors are sentences instead of tracebacks."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys

import pytest

from vkarray.__main__ import COMMANDS, main
from vkarray.command import examples


def vkarray(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vkarray", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_module(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"vkarray.command.{command}")
    assert callable(module.run)
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
    output = capsys.readouterr().out
    assert f"usage: vkarray {command}" in output
    assert module.__doc__.split()[0] in output


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["--help"])
    assert exit.value.code == 0
    output = capsys.readouterr().out
    assert all(f"  {name} " in output and text in output for name, text in COMMANDS.items())


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["devices", "--nonsense"]])
def test_wrong_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2
    assert "usage: vkarray" in capsys.readouterr().err


def test_interruption_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    for command in COMMANDS:
        module = importlib.import_module(f"vkarray.command.{command}")
        monkeypatch.setattr(module, "run", interrupted)
        needed = {"compile": ["model.onnx"], "run": ["x.vkp"], "show": ["x.vkp"], "benchmark": ["x.vkp"]}
        assert main([command, *needed.get(command, [])]) == 130
        assert capsys.readouterr().err == f"vkarray {command}: interrupted.\n"


def test_version_is_that_of_the_package() -> None:
    import vkarray as vx

    assert vkarray("--version").stdout == f"vkarray {vx.__version__}\n"


def test_devices_marks_one_default() -> None:
    done = vkarray("devices")
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("* ") for line in done.stdout.splitlines()) == 1
    assert all(word in done.stdout for word in ("driver", "UUID", "GiB", "has", "lacks"))


def test_devices_says_why_a_device_is_refused() -> None:
    done = vkarray("devices", VKARRAY_DISABLE="bufferDeviceAddress")
    assert done.returncode == 1
    assert "REFUSED" in done.stdout
    assert "bufferDeviceAddress" in done.stdout
    assert "* " not in done.stdout


def test_devices_says_that_no_device_has_the_name() -> None:
    done = vkarray("devices", VKARRAY_DEVICE="no such device")
    assert done.returncode == 1
    assert "* " not in done.stdout
    assert (
        "VKARRAY_DEVICE='no such device' names none that can be used. Set it to an index, a part of a name"
        in done.stderr
    )


def test_operators_names_the_packages_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["operators"]) == 1
    assert "not installed: torch, pytest, expecttest. Install them: pip install" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["onnx", "torch"])
def test_imports_name_the_package_that_they_lack(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; import vkarray.{package}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"ModuleNotFoundError: vkarray.{package} needs the package {package}, which cannot" in done.stderr
    assert done.stderr.endswith(f"Install it: pip install 'vkarray[{package}]'.\n")


def test_an_unknown_peer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--only", "calls", "--peers", "numpy,nothing"]) == 1
    assert "bench: --peers nothing: no library of that name is measured. They are NumPy, " in capsys.readouterr().err


def test_a_missing_command_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().err.endswith("the following arguments are required: COMMAND\n")


def test_info_reports_versions_and_devices() -> None:
    done = vkarray("info", VKARRAY_DEBUG="0")
    assert done.returncode == 0, done.stderr
    for word in ("vkarray", "Python", "numpy", "shader compiler", "cache", "VKARRAY_DEBUG", "bufferDeviceAddress"):
        assert word in done.stdout


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"{}", b'{"rows": [3]}', b"[" * 99999, b"\xff", None],
    ids=lambda content: repr(content)[:20],
)
@pytest.mark.parametrize(
    "command", [["bench", "--draw"], ["operators", "--read"], ["accuracy", "sqrt", "--digests", "--compare"]], ids=str
)
def test_a_report_that_is_damaged_is_named(
    command: list[str], content: bytes | None, tmp_path: os.PathLike[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = os.path.join(tmp_path, "report.json")
    if content is not None:
        with open(file, "wb") as opened:
            opened.write(content)
    assert main([*command, file]) == 1
    said = "is not a whole report of this command" if content is not None else "cannot be read"
    assert f"{file} {said}" in capsys.readouterr().err


def test_info_prints_what_the_terminal_cannot(tmp_path: os.PathLike[str]) -> None:
    cache = os.path.join(os.fsencode(tmp_path), b"\xff\xe2\x82\xac")  # no UTF-8, then a sign that few encodings have
    done = vkarray("info", VKARRAY_CACHE=os.fsdecode(cache), PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert r"\udcff\u20ac" in done.stdout


@pytest.mark.parametrize("command", ["devices", "info"])
def test_without_a_driver_the_remedy_is_named(command: str, tmp_path: os.PathLike[str]) -> None:
    nowhere = os.path.join(tmp_path, "no-driver.json")
    done = vkarray(command, VK_DRIVER_FILES=nowhere, VK_ICD_FILENAMES=nowhere)
    assert done.returncode == 1
    output = done.stdout + done.stderr
    assert "mesa-vulkan-drivers" in output
    assert "Traceback" not in output


def test_a_wrong_switch_is_named() -> None:
    done = vkarray("devices", VKARRAY_DEBUG="9")
    assert done.returncode == 1
    assert "VKARRAY_DEBUG" in done.stderr
    assert "0 to 5" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_device_is_answered_with_those_there_are() -> None:
    program = "import vkarray as vx; vx.asarray(1)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"VKARRAY_DEVICE": "no such device"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "vkarray.errors.DeviceError" in done.stderr
    assert "no such device" in done.stderr
    assert "VKARRAY_DEVICE" in done.stderr


def test_warm_prepares_named_functions(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm", "exp", "linalg.trace", "arange"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-2:] for line in lines[1:4]] == [["0/3", "exp"], ["1/3", "linalg.trace"], ["2/3", "arange"]]
    assert lines[4] == f"[{'#' * 30}] 3/3 done"
    monkeypatch.setattr(examples, "ORDINARY", {"add": examples.ORDINARY["add"]})
    assert main(["warm"]) == 0
    assert "0/1 add" in capsys.readouterr().out


def test_warm_tells_what_is_unknown_or_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["warm", "solv"]) == 2
    assert "no function solv; did you mean linalg.solve?" in capsys.readouterr().err
    monkeypatch.setitem(examples.ORDINARY, "exp", lambda xp, x: xp.exp("text"))
    assert main(["warm", "exp"]) == 1
    assert "vkarray warm: exp: TypeError: " in capsys.readouterr().err
