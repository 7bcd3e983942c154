"""The notebooks are the pages they are made of, and run in Jupyter."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks
from tests.patience import PATIENCE

_spec = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
notebooks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(notebooks)


@pytest.mark.parametrize("page", notebooks.PAGES)
def test_notebook_is_made_of_its_page(page):
    made = "make it anew: python docs/notebooks.py"
    assert notebooks.target(page).read_text(encoding="utf-8") == notebooks.written(page), made


@pytest.mark.parametrize("page", notebooks.PAGES)
def test_notebook_has_the_code_of_its_page_in_order(page):
    cells = json.loads(notebooks.target(page).read_text(encoding="utf-8"))["cells"]
    code = [cell["source"].replace("!similitude", "similitude") for cell in cells if cell["cell_type"] == "code"]
    assert code == [text.rstrip() for language, text in blocks(DOCS / page) if language in ("python", "bash")]


@pytest.mark.whole
@pytest.mark.parametrize("page", notebooks.PAGES)
def test_notebook_runs_in_jupyter(page, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="the extra dev is not installed")
    client = pytest.importorskip("nbclient", reason="the extra dev is not installed")
    program = tmp_path / "similitude"  # the command of this checkout, wherever the installed one leads
    program.write_text('#!/bin/sh\nexec python -m similitude.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    places = [str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(places))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    read = nbformat.read(notebooks.target(page), as_version=4)
    nbformat.validate(read)
    done = client.NotebookClient(read, timeout=PATIENCE, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert not any("similitude: " in output.get("text", "") for output in outputs)  # how a command says that it failed
