"""The table of promises names tests that exist."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NAMED = re.findall(r"`(test_\w+)::(\w+)`", (HERE / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_it_is_there(file, name):
    assert re.search(rf"^def test_{name}\(", (HERE / f"{file}.py").read_text(encoding="utf-8"), re.MULTILINE)
