"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
BUILT = ("_build", "gallery", "generated", "_templates")  # folders that a build makes
INCLUDED = ("changelog.md", "contributing.md", "design.md")  # pages of the project, tested where they stand

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """Return every page that is written by hand."""
    found = sorted(DOCS.rglob("*.md"))
    return [page for page in found if not set(page.relative_to(DOCS).parts) & {*BUILT, *INCLUDED}]


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and the text of each block of code, in order."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def needs(page: Path) -> tuple[str, str | None] | None:
    """Return the module without which the code of a page cannot run, and its least version or None.

    They are what its front matter says: `needs: torch`, `needs: sklearn 1.8`.
    """
    found = re.match(r"---\n(?:.*\n)*?needs: (\w+)(?: (\S+))?\n", page.read_text(encoding="utf-8"))
    return (found[1], found[2]) if found else None


def name(page: Path) -> str:
    """Return what to call a page in the list of tests."""
    return page.relative_to(DOCS).as_posix()
