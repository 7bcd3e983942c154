"""Tables in files: CSV, TSV, JSON lines, Parquet, plain text; read as columns."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from similitude.extras import need
from similitude.feedback.files.spreadsheets import plain_column
from similitude.types import Array

Header = dict[str, Any]
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt", ".npy", ".npz")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as they stand in a file.

    Attributes
    ----------
    columns : one object array per column, None where a cell is empty
    header : what similitude wrote about the file (format, items), or None
    typed : whether the file tells numbers from text; in CSV all cells are text
    called : what the file calls a column, where `columns` has a plainer name for it
    """

    columns: Mapping[str, Array]
    header: Header | None
    typed: bool
    called: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def take(self, rows: Array) -> Table:
        """Return the given rows."""
        return replace(self, columns={name: column[rows] for name, column in self.columns.items()})

    def extra(self, known: Collection[str]) -> dict[str, Array]:
        """Return the columns beside those that are known, as the file calls them; columns of lists are left out."""
        return {
            self.called.get(name, name): cells
            for name, cells in self.columns.items()
            if name not in known and not any(isinstance(cell, (list, dict, np.ndarray)) for cell in cells[:100])
        }


def kind_of(path: Path) -> tuple[str, bool]:
    """Return the suffix that says how to read a file, and whether it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    kind = suffixes[-1 - zipped] if len(suffixes) > zipped else ""
    if kind not in SUFFIXES:
        raise ValueError(f"path: expected a file name that ends in {', '.join(SUFFIXES)} (or .gz), found {path.name!r}")
    return kind, zipped


def content(path: Path, zipped: bool) -> bytes:
    """Return the bytes of a file, unpacked."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"path: there is no file {str(path)!r}; give the path of a file with answers") from None
    if zipped:
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{path.name}: the compressed file is cut off or damaged ({error}); get it anew") from None
    if not data.strip():
        raise ValueError(f"{path.name}: the file is empty; expected rows of answers")
    return data


def parse_text(data: bytes, separator: str) -> Table:
    """Read separated text whose first line names the columns."""
    text = _decoded(data)
    if '"' not in text:
        columns = _plain_columns(text, separator)
        if columns is not None:
            return _headed_by_columns(columns)
    limit = csv.field_size_limit(2**31 - 1)  # a rating sheet in one cell is longer than the usual limit
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        lines = [row for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"the text is cut off or has a stray quote ({error}); mend it") from None
    finally:
        csv.field_size_limit(limit)
    return _headed_by_columns(columns_of_rows(lines[0], lines[1:]))


def _plain_columns(text: str, separator: str) -> dict[str, Array] | None:
    """Read text without quotes fast; None where a row is too long or too short, or a column has no name."""
    import pandas as pd

    names = next(line for line in io.StringIO(text) if line.strip()).rstrip("\r\n").split(separator)
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    except pd.errors.ParserError:
        return None
    if list(frame.columns) != names or text.count(separator) != (len(names) - 1) * (len(frame) + 1):
        return None
    columns = {name: frame[name].to_numpy(object, copy=True) for name in names}
    for cells in columns.values():
        cells[cells == ""] = None
    return columns


def parse_bare(data: bytes) -> list[list[str]]:
    """Read rows of words without a header."""
    return [line.split() for line in _decoded(data).splitlines() if line.strip()]


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"expected text in UTF-8, found {error.reason} at byte {error.start}; save it anew") from None


def columns_of_rows(names: Sequence[str], rows: list[list[str]]) -> dict[str, Array]:
    """Turn rows of cells into columns, None for an empty cell; every row has a cell for every name."""
    if len(set(names)) < len(names):
        raise ValueError(f"two columns have the same name ({', '.join(names)}); give each a name of its own")
    wrong = next((k for k, row in enumerate(rows) if len(row) != len(names)), None)
    if wrong is not None:
        raise ValueError(f"row {wrong + 1} has {len(rows[wrong])} cells, expected {len(names)}; mend that row")
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: objects([cell or None for cell in column]) for name, column in zip(names, cells, strict=True)}


def _headed_by_columns(columns: dict[str, Array]) -> Table:
    """Take what similitude wrote about a CSV file out of the first cells of `format` and `items`."""
    about = {name: cells[0] for name, cells in columns.items() if name in ("format", "items") and len(cells)}
    try:
        header: Header = {name: json.loads(cell) for name, cell in about.items()}
    except (TypeError, json.JSONDecodeError):
        header = {}
    if len(header) < 2:
        return Table(columns, None, typed=False)
    ours = {name: plain_column(cells) for name, cells in columns.items() if name not in header}
    return Table(ours, header, typed=False)


def parse_json_lines(data: bytes) -> Table:
    """Read one JSON object per line; a first line with a `format` is about the file."""
    rows = []
    for number, line in enumerate(_decoded(data).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is cut off or is not JSON ({error.msg}); mend it") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not a JSON object; expected one object per answer")
        rows.append(row)
    header = rows.pop(0) if "format" in rows[0] and "items" in rows[0] else None
    keys = dict.fromkeys(key for row in rows for key in row)
    return Table({key: objects([row.get(key) for row in rows]) for key in keys}, header, typed=True)


def parse_parquet(data: bytes) -> Table:
    """Read a Parquet file; what is about it stands in the schema's metadata."""
    pa, pq = pyarrow()
    try:
        table = pq.read_table(pa.BufferReader(data))
    except pa.ArrowInvalid as error:
        raise ValueError(f"the Parquet file is cut off or damaged ({error}); get it anew") from None
    about = (table.schema.metadata or {}).get(b"similitude")
    columns = {key: objects(table.column(key).to_pylist()) for key in table.column_names}
    return Table(columns, None if about is None else json.loads(about), typed=True)


def pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module, or say what to install."""
    need("parquet", "a Parquet file")
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa, pq


def of_frame(frame: Any) -> Table:
    """Take the columns of a pandas table."""
    columns = {}
    for name in frame.columns:
        cells = frame[name].to_numpy(object, copy=True)
        cells[frame[name].isna().to_numpy()] = None
        columns[str(name)] = cells
    return Table(columns, None, typed=True)


def objects(values: list[Any]) -> Array:
    """Return a column of any values, lists included."""
    return np.fromiter(values, object, len(values))
