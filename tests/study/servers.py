"""What the tests of the study run against: PostgreSQL as a real process, and studies to serve."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.postgresql import PostgreSQL, missing_program


def postgresql_or_skip():
    """A server of its own; where PostgreSQL is not installed the test is skipped, and under CI it fails."""
    if missing := missing_program():
        message = f"PostgreSQL's {missing} is not installed"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return PostgreSQL()


def write_study(folder: Path, settings: str = "", names=None, **sections) -> Path:
    """Write a study of words; `settings` is TOML beside the title."""
    folder.mkdir(parents=True, exist_ok=True)
    names = names if names is not None else [f"w{k:02d}" for k in range(12)]
    table = "name\n" + "".join('"{}"\n'.format(name.replace('"', '""')) for name in names)
    (folder / "items.csv").write_text(table, encoding="utf-8", newline="")
    pages = "" if "[pages]" in settings else "\n[pages]\nconsent = 'consent.md'\ninstructions = 'consent.md'\n"
    (folder / "consent.md").write_text("Do you agree?", encoding="utf-8")
    text = f"title = 'Words'\n{settings}\n[items]\ntable = 'items.csv'\n{pages}"
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder
