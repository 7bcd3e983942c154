"""Separated text as a table: which sign separates, whether the first line names the columns, and decimal commas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from similitude.feedback.files.column_map import ABOUT, plain
from similitude.feedback.files.decoding import decoded
from similitude.feedback.files.tables import (
    Table,
    columns_of_rows,
    headed_by_columns,
    objects,
    without_blank_rows,
    without_headers,
)
from similitude.types import Array, Ints

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
Known = Sequence[Sequence[Sequence[str]]]
_LOOKED_AT = 50  # rows from which the sign that separates is told
_LOOKED_INTO = 200_000  # signs that these rows may take
_DECIMAL = re.compile(r"[+-]?[0-9]+(,[0-9]+)?")


@dataclass(frozen=True)
class WrittenTable:
    """How a text file is written.

    Attributes
    ----------
    encoding : what its letters are written in
    separator : the sign between cells; None for spaces
    header : whether the first line names the columns
    decimal_comma : whether numbers have a comma
    """

    encoding: str
    separator: str | None
    header: bool
    decimal_comma: bool = False

    def __str__(self) -> str:
        cells = SEPARATORS.get(self.separator or "", "spaces")
        header = "" if self.header else ", no header"
        return f"{self.encoding}, {cells}{header}{', decimal commas' if self.decimal_comma else ''}"


def parse_separated(data: bytes, usual: str, known: Known = ()) -> tuple[Table, WrittenTable]:
    """Read separated text, found out by looking.

    Parameters
    ----------
    data : the bytes of the file
    usual : the separator that the name of the file promises; a space for text that may be words without any other sign
    known : layouts, each the names that its columns may have; a line that names all of one is a header for sure
    """
    text, encoding = decoded(data)
    if usual == " " and not any(sign in text[:_LOOKED_INTO] for sign in SEPARATORS):
        return _parse_words(text, encoding, known)
    separator, text = _separator(text.lstrip("\r\n"), usual if usual != " " else ",")
    first = _first_rows(text, separator)
    if not first:
        raise _nothing()
    header = _is_header(first, known)
    columns, notes = without_headers(without_blank_rows(_columns(text, separator, header)))
    comma = separator != "," and _mend_decimals(columns)
    table = headed_by_columns(columns) if header else Table(columns, None, typed=False)
    return replace(table, notes=notes), WrittenTable(encoding, separator, header, comma)


def _parse_words(text: str, encoding: str, known: Known) -> tuple[Table, WrittenTable]:
    """Read rows of words between spaces; the first names columns only where it is known to."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if not rows:
        raise _nothing()
    header = _is_known(rows[0], known)
    names = rows.pop(0) if header else [f"column {k + 1}" for k in range(len(rows[0]))]
    return Table(columns_of_rows(names, rows), None, typed=False), WrittenTable(encoding, None, header)


def _nothing() -> ValueError:
    return ValueError("the file holds no cell with anything in it; expected rows with cells")


def parse_text(data: bytes, separator: str) -> Table:
    """Read separated text that is known to have a header and this separator."""
    return headed_by_columns(_columns(decoded(data)[0], separator, header=True))


def _separator(text: str, usual: str) -> tuple[str, str]:
    """Return the separator, and the text without the line `sep=;` by which Excel is told."""
    told = re.match(r"sep=(.)\r?\n", text)
    if told:
        return told[1], text[told.end() :]
    scores = {sign: _score(text, sign) for sign in dict.fromkeys((usual, *SEPARATORS))}
    best = max(scores, key=lambda sign: scores[sign])
    return (best if scores[best] > (0, 0) else usual), text


def _score(text: str, sign: str) -> tuple[float, int]:
    """How well a sign cuts the first rows into equally many cells, and how many."""
    widths = [len(row) for row in _first_rows(text, sign)]
    if not widths or widths[0] < 2:
        return 0.0, 0
    alike = sum(width == widths[0] for width in widths) / len(widths)
    return (round(alike, 1) if alike >= 0.5 else 0.1), widths[0]


def _first_rows(text: str, separator: str) -> list[list[str]]:
    """Return a few rows to look at; a stray quote does not matter here."""
    end = max(text.rfind(sign, 0, _LOOKED_INTO) for sign in "\n\r") + 1 if len(text) > _LOOKED_INTO else 0
    part = text[:end] if end else text  # a first line may be longer than that
    with _any_length():
        rows = csv.reader(io.StringIO(part, newline=""), delimiter=separator)
        return list(islice((row for row in rows if any(cell.strip() for cell in row)), _LOOKED_AT))


def _is_header(rows: list[list[str]], known: Known) -> bool:
    """Whether the first row names columns: it is known to, or has a word that is no cell of the rows below.

    One that says who answered may stand there again, where files were joined.
    """
    if len(rows) < 2 or _is_known(rows[0], known) or (not rows[0][0].strip() and all(rows[0][1:])):
        return True
    again = rows[0] if any(plain(cell) in ABOUT["rater"] for cell in rows[0]) else None
    below = {cell.strip() for row in rows[1:] if row != again for cell in row}
    return any(cell.strip() not in below and not is_number(cell) for cell in rows[0] if cell.strip())


def _is_known(row: Sequence[str], known: Known) -> bool:
    present = {cell.strip().lower() for cell in row}
    return any(all(not present.isdisjoint(names) for names in layout) for layout in known)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, with a point or a comma."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _columns(text: str, separator: str, header: bool) -> dict[str, Array]:
    found = _fast_columns(text, separator) if header else None
    if found is not None:
        return found
    rows = _all_rows(text, separator)
    if header:
        return columns_of_rows(rows[0], rows[1:])
    return columns_of_rows([f"column {k + 1}" for k in range(len(rows[0]))], rows)


def _all_rows(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with _any_length():
        try:
            rows.extend(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        except csv.Error as error:
            raise ValueError(
                f"after row {max(len(rows) - 1, 0)} the text is cut off or has a stray quote ({error}); correct it"
            ) from None
    return [row for row in rows if any(cell.strip() for cell in row)]


@contextmanager
def _any_length() -> Iterator[None]:
    """Let cells be as long as they are: a sheet of ratings in one cell is longer than the usual limit."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _fast_columns(text: str, separator: str) -> dict[str, Array] | None:
    """Read text fast; None where anything is not as it should be, so that the slow way says what."""
    import pandas as pd

    names = _first_rows(text, separator)[0]
    if '"' in text and re.search(rf'[^{re.escape(separator)}\n\r"]"[^{re.escape(separator)}\n\r"]', text):
        return None  # a quote inside a cell
    widths = _widths(text, separator)
    if (widths != len(names)).any():
        return None
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, dtype=object, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        return None
    frame.columns = [names[k] if name == f"Unnamed: {k}" else name for k, name in enumerate(frame.columns)]
    if list(frame.columns) != names or len(set(names)) < len(names) or len(frame) + 1 != len(widths):
        return None
    columns = {name: np.array(frame[name].to_numpy(), object) for name in names}
    for cells in columns.values():
        cells[cells == ""] = None
    return columns


def _widths(text: str, separator: str) -> Ints:
    """How many cells each line has that is not blank; what stands in quotes ends neither a cell nor a line."""
    signs = np.frombuffer(f"{text}\n".encode(), np.uint8)
    bare = True if '"' not in text else np.bitwise_xor.accumulate((signs == ord('"')).view(np.uint8)) == 0
    between = np.flatnonzero((signs == ord(separator)) & bare)
    ends = np.flatnonzero(((signs == ord("\n")) | (signs == ord("\r"))) & bare)
    blank = np.diff(ends, prepend=-1) == 1
    return (np.diff(np.searchsorted(between, ends), prepend=0) + 1)[~blank]


def _mend_decimals(columns: dict[str, Array]) -> bool:
    """Write numbers with a point where a column holds numbers with commas; returns whether any did."""
    mended = False
    for name, cells in columns.items():
        values = {cell for cell in cells.tolist() if cell is not None}
        if any("," in cell for cell in values) and all(_DECIMAL.fullmatch(cell.strip()) for cell in values):
            plain = {cell: cell.replace(",", ".") for cell in values}
            columns[name] = objects([None if cell is None else plain[cell] for cell in cells.tolist()])
            mended = True
    return mended
