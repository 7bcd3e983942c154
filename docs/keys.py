"""The meaning of every key of `study.toml` in `reference/study.md`, as the page that edits a study says it.

python docs/keys.py        writes the sentences into the tables of the page; a test compares the two
"""

import re
from pathlib import Path

from similitude.study.editing.fields import sentences

PAGE = Path(__file__).parent / "reference" / "study.md"
_ROW = re.compile(r"^\| `([a-z_.]+)` \| ([^|]*)\| .* \|$", re.MULTILINE)


def page_with(text: str) -> str:
    """Return the page with the sentence of each key in its row; rows of other names stay as they are."""
    known = sentences()
    return _ROW.sub(lambda row: f"| `{row[1]}` | {row[2]}| {known[row[1]]} |" if row[1] in known else row[0], text)


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
