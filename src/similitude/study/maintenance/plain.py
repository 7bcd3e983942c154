"""Answers as a plain table for spreadsheets: one cell for each item and each thing said, times in ISO 8601.

A study asks one form of question, so the columns are those that files of that form have (`a, b, c, odd`; `head, b, c,
chosen`; `i, j, rating`), which `read_comparisons` reads; of other forms they are numbered (`item 1`, `said 1`, ...).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from similitude.feedback.files.spreadsheets import defused
from similitude.feedback.forms import find
from similitude.feedback.forms.base import Form

_AFTER = ("kind", "outcome", "number", "strategy", "study_version", "standing")


class PlainTable:
    """Blocks of exported answers as the lines of a plain table.

    Parameters
    ----------
    forms : the forms of the answers
    n_shown, n_said : the most items that an answer shows, and the most that one says
    separator : what stands between cells
    more : columns that only some studies have, at the end
    """

    def __init__(
        self, forms: Sequence[str], n_shown: int, n_said: int, separator: str, more: Sequence[str] = ()
    ) -> None:
        self.separator, self.after = separator, [*_AFTER, *more]
        columns = _columns(find(forms[0])) if len(forms) == 1 else None
        if columns is not None and len(columns) == n_shown + 1 and n_said <= 1:
            self.shown, self.said = columns[:-1], columns[-1:]
        else:
            self.shown = [f"item {k + 1}" for k in range(n_shown)]
            self.said = [f"said {k + 1}" for k in range(n_said)]

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return ["rater", "form", *self.shown, *self.said, "seconds", "received", *self.after]

    def pieces(self, blocks: Iterable[Mapping[str, list[Any]]]) -> Iterator[bytes]:
        """The table, block by block."""
        yield self._line(self.header)
        for block in blocks:
            names = list(block)
            rows = zip(*block.values(), strict=True)
            yield b"".join(self._line(self._cells(dict(zip(names, row, strict=True)))) for row in rows)

    def _cells(self, row: Mapping[str, Any]) -> list[str]:
        form = find(row["form"])
        said = row.get("label") or (form.said(row["shown"], row["response"]) if row["response"] else [])
        cells = [row["rater"], row["form"], *_padded(row["shown"], len(self.shown)), *_padded(said, len(self.said))]
        return [
            _cell(cell) for cell in (*cells, row["time"], _moment(row["received"]), *(row[name] for name in self.after))
        ]

    def _line(self, cells: Sequence[str]) -> bytes:
        signs = (self.separator, '"', "\n", "\r")
        quoted = (
            '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in signs) else cell for cell in cells
        )
        return (self.separator.join(quoted) + "\n").encode()


def _columns(form: Form) -> list[str] | None:
    """The columns in which a row holds a question and its answer, where files of the form have such."""
    sheet = getattr(form, "sheet", form)
    known = next((one for one in sheet.columns if one.how in ("named", "ratings")), None)
    return None if known is None else [names[0] for names in known.names]


def _padded(values: Sequence[Any], width: int) -> list[Any]:
    return [*values, *[None] * (width - len(values))]


def _moment(seconds: float | None) -> str | None:
    """A moment as ISO 8601 in universal time: 2026-03-01T12:30:00Z."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return defused(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
