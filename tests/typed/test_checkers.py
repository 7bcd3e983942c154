"""mypy and pyright refuse wrong uses of public names, line by line, and have nothing to say about right ones."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import similitude as sm

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WRONG, RIGHT = HERE / "wrong_use.py", HERE / "right_use.py"
SOURCE = Path(sm.__file__).parents[1]
LINES = WRONG.read_text(encoding="utf-8").splitlines()
MARKED = {number for number, line in enumerate(LINES, 1) if line.endswith("# wrong")}


def needs(checker):
    """Skip a test where the checker is not installed, and leave it out of the fast tier: it reads the whole package."""
    missing = importlib.util.find_spec(checker) is None
    skip = pytest.mark.skipif(missing, reason=f"{checker} is not installed; it comes with the extra dev")
    return lambda test: pytest.mark.slow(skip(test))


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stdout + done.stderr  # 1: there were errors; 2 and more: it could not check
    return done.stdout


def by_mypy():
    """(file, line) of every error of mypy, strict as the project is, so that what `make check` found is used again."""
    found = run("mypy", "--no-pretty", str(WRONG), str(RIGHT), MYPYPATH=str(SOURCE))
    return {(Path(file).name, int(line)) for file, line in re.findall(r"^(\S+?):(\d+): error", found, re.MULTILINE)}


def by_pyright(folder):
    """(file, line) of every error of pyright, in a folder of its own as a user's would be."""
    for file in (WRONG, RIGHT):
        shutil.copy(file, folder)
    settings = {"include": [WRONG.name, RIGHT.name], "extraPaths": [str(SOURCE)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    found = run("pyright", "--outputjson", "--project", str(folder), "--pythonpath", sys.executable)
    errors = [one for one in json.loads(found)["generalDiagnostics"] if one["severity"] == "error"]
    return {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in errors}


def test_twenty_public_names_and_more_are_used_wrongly():
    used = {name for number in MARKED for name in re.findall(r"\bsm\.(\w+)", LINES[number - 1])}
    assert len(used & set(sm.__all__)) >= 20
    assert {'sm.STE(n_components="two", penaltyy=3)  # wrong', "sm.nonexistent()  # wrong"} <= set(LINES)


@needs("mypy")
def test_mypy_refuses_the_wrong_lines_and_no_others():
    assert by_mypy() == {(WRONG.name, line) for line in MARKED}


@needs("pyright")
def test_pyright_refuses_the_wrong_lines_and_no_others(tmp_path):
    assert by_pyright(tmp_path) == {(WRONG.name, line) for line in MARKED}
