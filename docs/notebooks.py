"""The three journeys as notebooks, made of the pages that tell them: `python docs/notebooks.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGES = ("tutorial.md", "tutorials/products.md", "tutorials/methods.md")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_CODE = re.compile(r"^```(python|bash)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_NOTEBOOK = re.compile(r" The same as a notebook:\s+\{download\}`[^`]*`\.")  # it need not link to itself
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:)[^)]*\)")  # pages that are not beside the notebook


def target(page: str) -> Path:
    """Where the notebook of a page is."""
    return DOCS / "notebooks" / Path(page).with_suffix(".ipynb").name


def notebook(page: str) -> dict[str, Any]:
    """Return a page as a notebook, in Jupyter's format 4."""
    return {
        "cells": [{"id": f"cell-{number}", **cell} for number, cell in enumerate(_cells(page))],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cells(page: str) -> Iterator[dict[str, Any]]:
    text = _NOTEBOOK.sub("", _FRONT.sub("", (DOCS / page).read_text(encoding="utf-8")))
    parts = _CODE.split(text)  # words, language, code, words, language, code, ..., words
    for words, language, code in zip(parts[::3], [*parts[1::3], ""], [*parts[2::3], ""], strict=True):
        if words.strip():
            yield {"cell_type": "markdown", "metadata": {}, "source": _LINK.sub(r"\1", words.strip())}
        if code:
            source = code if language == "python" else re.sub(r"^(?=similitude )", "!", code, flags=re.MULTILINE)
            yield {
                "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source.rstrip()
            }  # fmt: skip


def written(page: str) -> str:
    """Return what the file of a notebook holds."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    target(PAGES[0]).parent.mkdir(exist_ok=True)
    for name in PAGES:
        target(name).write_text(written(name), encoding="utf-8")
