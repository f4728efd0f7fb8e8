"""Files that are no programs, or not those of this version: each is refused with the reason. `tests/fuzz files` damages more."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_program import values

import vkarray as vx
from vkarray.programs import container
from vkarray.programs.container import Container

HEADER = 48  # bytes


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "good.vkp"
    w = values((4, 3), 1)
    program = vx.Program(lambda x, factor: vx.tanh(x @ w) * factor, (values((2, 4)), 2.0))
    program.save(path, targets=("any",))
    return path


def refused(path: Path, data: bytes, told: str) -> None:
    path.write_bytes(data)
    with pytest.raises(vx.ProgramError, match=told):
        vx.load_program(path)


BYTES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda data: b"", "the file is empty"),
    "text": (lambda data: b"hello", "this is no file of a program"),
    "zip": (lambda data: b"PK\x03\x04" + data, "this is no file of a program"),
    "safetensors": (lambda data: struct.pack("<Q", 2) + b"{}", "this is no file of a program"),
    "ends of lines": (lambda data: data.replace(b"\r\n", b"\n", 1), "this is no file of a program"),
    "signature alone": (lambda data: data[:8], "the file is cut off: it has 8 bytes"),
    "part of a signature": (lambda data: data[:3], "cut off"),
    "header alone": (lambda data: data[:HEADER], "the file is cut off"),
    "last byte": (lambda data: data[:-1], "the file is cut off: 'shaders' ends at byte"),
    "half": (lambda data: data[: len(data) // 2], "the file is cut off"),
    "more bytes": (lambda data: data + b"\0", "the file has 1 bytes after its last part"),
    "newer": (lambda data: data[:8] + struct.pack("<I", 2) + data[12:], "version 2 of the format.* Install a newer vkarray"),
    "older": (lambda data: data[:8] + struct.pack("<I", 0) + data[12:], "version 0 of the format.* Save the program again"),
    "long table": (lambda data: data[:12] + b"\xff" * 4 + data[16:], "its table of parts has 4294967295 bytes"),
    "table": (lambda data: data[:60] + b"?" + data[61:], "its table of parts does not match the checksum"),
    "weights": (lambda data: data.replace(b'"F32"', b'"F64"'), "'weights' does not match its checksum"),
    "shader": (lambda data: data[:-9] + b"\xff" + data[-8:], "'shaders' does not match its checksum"),
}  # fmt: skip


@pytest.mark.parametrize("name", BYTES)
def test_damaged_files_are_refused(name: str, good: Path, tmp_path: Path) -> None:
    damage, told = BYTES[name]
    refused(tmp_path / "model.vkp", damage(good.read_bytes()), told)


def of_table(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    """A change of the table of parts, whose checksum fits."""

    def changed(data: bytes) -> bytes:
        length = struct.unpack_from("<I", data, 12)[0]
        table = json.loads(data[HEADER : HEADER + length])
        change(table["parts"])
        text = json.dumps(table).encode().ljust(length)
        return data[:12] + struct.pack("<I", len(text)) + hashlib.sha256(text).digest() + text + data[HEADER + length :]

    return changed


TABLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a part less": lambda parts: parts.pop("shaders"),
    "a part more": lambda parts: parts.update(more=parts["shaders"]),
    "below 0": lambda parts: parts["weights"].update(offset=-64),
    "beyond the end": lambda parts: parts["shaders"].update(length=1 << 62),
    "one over another": lambda parts: parts["weights"].update(offset=parts["program"]["offset"]),
    "no number": lambda parts: parts["weights"].update(offset="0"),
    "true": lambda parts: parts["weights"].update(length=True),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_parts_are_checked(name: str, good: Path, tmp_path: Path) -> None:
    refused(tmp_path / "model.vkp", of_table(TABLES[name])(good.read_bytes()), "table of parts is damaged|cut off")


def nested(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = {"tuple": [found]}
    return found


# What is put into the description of a program, and why it is refused.
DESCRIPTIONS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "unknown function": (lambda it: it["calls"][0].__setitem__(0, "solve_everything"), "which this vkarray does not have"),
    "method that writes": (lambda it: it["calls"][0].__setitem__(0, "array.tofile"), "which this vkarray does not have"),
    "private name": (lambda it: it["calls"][0].__setitem__(0, "array._view"), "which this vkarray does not have"),
    "module": (lambda it: it["calls"][0].__setitem__(0, "os.system"), "which this vkarray does not have"),
    "name of no text": (lambda it: it["calls"][0].__setitem__(0, ["add"]), "which this vkarray does not have"),
    "later value": (lambda it: it["calls"][0][1].__setitem__(0, {"value": 5}), "there is no value 5"),
    "value below 0": (lambda it: it["calls"][0][1].__setitem__(0, {"value": -1}), "there is no value -1"),
    "true for 1": (lambda it: it["calls"][0][1].__setitem__(0, {"value": True}), "there is no value True"),
    "value again": (lambda it: it["calls"][0].__setitem__(3, {"value": 0}), "the value 1 is called 0"),
    "unknown tag": (lambda it: it["calls"][0][1].append({"pickle": "gASVIAAAAA=="}), "is no value of a program"),
    "two tags": (lambda it: it["calls"][0][1].append({"value": 0, "number": 0}), "is no value of a program"),
    "large integer": (lambda it: it["calls"][0][1].append(1 << 200), "is no value of a program"),
    "long text": (lambda it: it["calls"][0][1].append("a" * 5000), "is no value of a program"),
    "deep nest": (lambda it: it["calls"][0][1].append(nested(30)), "a nest is deeper than 24"),
    "unknown type": (lambda it: it["calls"][0][1].append({"dtype": "object"}), "there is no type 'object'"),
    "unknown class": (lambda it: it["calls"][0][1].append({"class": "type"}), "there is no class 'type'"),
    "unknown error": (lambda it: it["calls"][0].__setitem__(3, {"raises": "SystemExit"}), "there is no error 'SystemExit'"),
    "missing constant": (lambda it: it["calls"][0][1].append({"constant": 9}), "there is no constant 9"),
    "constant of another type": (lambda it: it["constants"][0].update(dtype="float64"), "its weights are damaged at '0'"),
    "constant too many": (lambda it: it["constants"].append(it["constants"][0]), "their names are others"),
    "input of another kind": (lambda it: it["inputs"][1].update(dtype="str"), "there are no numbers of the type 'str'"),
    "input of two names": (lambda it: it["inputs"][1].update(name="x"), "two inputs or two outputs have one name"),
    "negative length": (lambda it: it["inputs"][0].update(shape=[-1, 4]), "-1 is no length"),
    "unknown dimension": (lambda it: it["inputs"][0].update(shape=[{"dimension": 0}, 4]), "there is no dimension 0"),
    "bounds without a length": (
        lambda it: it["dimensions"].append({"name": "n", "min": 3, "max": 2}), "the dimension 'n' has no length",
    ),
    "arguments": (lambda it: it.update(arguments={"tuple": []}), "its arguments are damaged"),
    "field less": (lambda it: it.pop("calls"), "has other entries than"),
    "field more": (lambda it: it.update(more=1), "has other entries than"),
    "shaders": (lambda it: it["shaders"]["modules"][0].__setitem__(1, 4), "its list of shaders is damaged"),
    "no shaders": (lambda it: it.update(shaders=None), "its list of shaders is damaged"),
    "target": (lambda it: it["shaders"]["targets"].update(any=[10**9]), "its list of shaders is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_descriptions_are_checked(name: str, good: Path, tmp_path: Path) -> None:
    change, told = DESCRIPTIONS[name]
    parts: dict[str, Any] = {part: bytes(held) for part, held in Container(good).parts.items()}
    table = json.loads(parts["program"])
    change(table)
    container.write(tmp_path / "model.vkp", parts | {"program": json.dumps(table).encode()})
    with pytest.raises(vx.ProgramError, match=told):
        vx.load_program(tmp_path / "model.vkp")


TEXTS = {
    "no JSON": b"{", "NaN": b'{"a": NaN}', "no UTF-8": b'"\xff"', "deep": b"[" * 100_000, "long number": b"1" * 10_000,
    "a name twice": b'{"a": 1, "a": 2}', "a list": b"[]",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_other_json_is_refused(name: str, good: Path, tmp_path: Path) -> None:
    parts = {part: bytes(held) for part, held in Container(good).parts.items()}
    container.write(tmp_path / "model.vkp", parts | {"program": TEXTS[name]})
    with pytest.raises(vx.ProgramError, match=r"JSON is damaged|description of the program is damaged"):
        vx.load_program(tmp_path / "model.vkp")


def test_numbers_of_a_file_cannot_grow(good: Path, tmp_path: Path) -> None:
    parts: dict[str, Any] = {part: bytes(held) for part, held in Container(good).parts.items()}
    table = json.loads(parts["program"])
    for call in (
        ["number.pow", [10, 10**9], {}, 0, ""],
        ["number.lshift", [1, 10**9], {}, 0, ""],
        ["number.mul", ["a", 9], {}, 0, ""],
    ):
        container.write(
            tmp_path / "model.vkp", parts | {"program": json.dumps(table | {"calls": [call, *table["calls"]]}).encode()}
        )
        program = vx.load_program(tmp_path / "model.vkp")
        with pytest.raises(ValueError, match=r"in a program, which takes numbers|at most 127 bits"):
            program(values((2, 4)), 2.0)


def test_weights_are_a_file_of_safetensors(good: Path) -> None:
    data = bytes(Container(good).parts["weights"])
    length = struct.unpack_from("<Q", data)[0]
    table = json.loads(data[8 : 8 + length])
    assert table["0"]["dtype"] == "F32"
    assert table["0"]["shape"] == [4, 3]
    begin, end = table["0"]["data_offsets"]
    assert data[8 + length + begin : 8 + length + end] == np.asarray(values((4, 3), 1)).tobytes()
