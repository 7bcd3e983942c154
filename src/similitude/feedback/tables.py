"""Tables in files: CSV, TSV, JSON lines, Parquet, plain text; read as columns, written as bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from similitude.feedback.columns import Array

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
    """

    columns: Mapping[str, Array]
    header: Header | None
    typed: bool

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def take(self, rows: Array) -> Table:
        """Return the given rows."""
        return Table({name: column[rows] for name, column in self.columns.items()}, self.header, self.typed)


def kind_of(path: Path) -> tuple[str, bool]:
    """Return the suffix that says how to read a file, and whether it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    kind = suffixes[-1 - zipped] if len(suffixes) > zipped else ""
    if kind not in SUFFIXES:
        raise ValueError(
            f"path: expected a file name that ends in {', '.join(SUFFIXES)} (or .gz), found {path.name!r}"
        )
    return kind, zipped


def content(path: Path, zipped: bool) -> bytes:
    """Return the bytes of a file, unpacked."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"path: there is no file {str(path)!r}; give the path of a file with answers"
        ) from None
    if zipped:
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(
                f"{path.name}: the compressed file is cut off or damaged ({error}); get it anew"
            ) from None
    if not data.strip():
        raise ValueError(f"{path.name}: the file is empty; expected rows of answers")
    return data


def parse_text(data: bytes, separator: str, *, headed: bool = True) -> Table:
    """Read separated text; with `headed`, the first line names the columns."""
    import pandas as pd

    try:
        frame = pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            header=0 if headed else None,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
            engine="c",
        )
    except UnicodeDecodeError as error:
        raise ValueError(
            f"expected text in UTF-8, found {error.reason} at byte {error.start}; convert it"
        ) from None
    except pd.errors.ParserError as error:
        raise ValueError(f"the rows do not fit the header ({str(error).strip()}); mend that line") from None
    short = frame.isna().any(axis=1).to_numpy()
    if not isinstance(frame.index, pd.RangeIndex) or short.any():
        row = int(np.flatnonzero(short)[0]) + 1 if short.any() else 1
        raise ValueError(f"row {row} has not the {len(frame.columns)} cells that the header names; mend it")
    columns = {str(column): frame[column].to_numpy(object, copy=True) for column in frame.columns}
    for cells in columns.values():
        cells[cells == ""] = None
    return _headed_by_columns(columns)


def _headed_by_columns(columns: dict[str, Array]) -> Table:
    """Take what similitude wrote about a CSV file out of the first cells of `format` and `items`."""
    about = {name: cells[0] for name, cells in columns.items() if name in ("format", "items") and len(cells)}
    try:
        header: Header = {name: json.loads(cell) for name, cell in about.items()}
    except (TypeError, json.JSONDecodeError):
        header = {}
    if len(header) < 2:
        return Table(columns, None, typed=False)
    return Table({name: cells for name, cells in columns.items() if name not in header}, header, typed=False)


def text(columns: Mapping[str, list[Any]], header: Header, separator: str) -> bytes:
    """Write separated text; lists as JSON, what is about the file in the first row of columns of its own."""
    cells = {name: [_cell(value) for value in column] for name, column in columns.items()}
    length = len(next(iter(cells.values())))
    about = {name: [_cell_json(header[name])] + [""] * (length - 1) for name in ("format", "items")}
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerow([*cells, *about])
    writer.writerows(zip(*cells.values(), *about.values(), strict=True))
    return stream.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _cell_json(value) if isinstance(value, list) else str(value)


def _cell_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def parse_json_lines(data: bytes) -> Table:
    """Read one JSON object per line; a first line with a `format` is about the file."""
    rows = []
    for number, line in enumerate(data.decode("utf-8-sig", errors="replace").split("\n"), 1):
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


def json_lines(columns: Mapping[str, list[Any]], header: Header) -> bytes:
    """Write a line about the file, then one JSON object per row without its empty cells."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    lines = ({key: value for key, value in row.items() if value is not None} for row in rows)
    return "".join(_cell_json(line) + "\n" for line in (header, *lines)).encode()


def parse_parquet(data: bytes) -> Table:
    """Read a Parquet file; what is about it stands in the schema's metadata."""
    pa, pq = _pyarrow()
    try:
        table = pq.read_table(pa.BufferReader(data))
    except pa.ArrowInvalid as error:
        raise ValueError(f"the Parquet file is cut off or damaged ({error}); get it anew") from None
    about = (table.schema.metadata or {}).get(b"similitude")
    columns = {key: objects(table.column(key).to_pylist()) for key in table.column_names}
    return Table(columns, None if about is None else json.loads(about), typed=True)


def parquet(columns: Mapping[str, list[Any]], header: Header) -> bytes:
    """Write a Parquet file."""
    pa, pq = _pyarrow()
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    table = table.replace_schema_metadata({b"similitude": _cell_json(header).encode()})
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream)
    return bytes(stream.getvalue())


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError(
            "reading and writing Parquet needs pyarrow: pip install 'similitude[parquet]'"
        ) from None
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
