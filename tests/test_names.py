"""The names of CuPy's that NumPy has too are vkarray's, and the page of names says what is there."""

from __future__ import annotations

import names
import numpy
import pytest

import vkarray


def test_cupys_names_are_there() -> None:
    assert not {name for name in names.listed("cupy") - {"newaxis"} if not names.has(vkarray, name)}
    assert vkarray.newaxis is None


def test_page_of_names() -> None:
    text = names.PAGE.read_text(encoding="utf-8")
    if f"NumPy {numpy.__version__} " not in text:
        pytest.skip(f"the page is of another version of NumPy than {numpy.__version__}")
    assert text == names.page(), "run python tests/names.py"
