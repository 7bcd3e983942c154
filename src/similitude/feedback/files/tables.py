"""Tables in files as columns: what all formats share, JSON lines, Parquet (others: `separated`, `workbooks`)."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from similitude.extras import need
from similitude.feedback.files.decoding import decoded
from similitude.feedback.files.spreadsheets import plain, plain_column
from similitude.types import Array

Header = dict[str, Any]
_GZIP = b"\x1f\x8b"
ERRORS = ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!")  # as spreadsheets write them in cells
ENDLESS = "a number of more digits than Python reads"
SUFFIXES = (
    ".csv", ".tsv", ".txt", ".xlsx", ".ods", ".jsonl", ".ndjson", ".json", ".parquet", ".sav", ".rds", ".mat", ".hdf5",
    ".h5", ".npy", ".npz",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as they stand in a file.

    Attributes
    ----------
    columns : one object array per column, None where a cell is empty
    header : what similitude wrote about the file (format, items), or None
    typed : whether the file tells numbers from text; in CSV all cells are text
    called : what the file calls a column, where `columns` has a plainer name for it
    notes : what was left out or decided on while the file was taken apart, in sentences
    """

    columns: Mapping[str, Array]
    header: Header | None
    typed: bool
    called: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

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


def suffix_of(path: Path) -> tuple[str, bool]:
    """Return the suffix of a file, and whether it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    return suffixes[-1 - zipped] if len(suffixes) > zipped else "", zipped


def kind_of(path: Path) -> str:
    """Return the suffix that says how to read a file."""
    kind = suffix_of(path)[0]
    if kind not in SUFFIXES:
        raise ValueError(f"path: expected a file name that ends in {', '.join(SUFFIXES)} (or .gz), found {path.name!r}")
    return kind


def absent(path: Path) -> FileNotFoundError:
    """What to say of a path where nothing is: no file, or a link without its file, as data that was not fetched."""
    if path.is_symlink():
        target = str(path.readlink())
        annex = "annex/objects" in Path(target).as_posix()
        remedy = (
            f"fetch it by `datalad get {path.name}` or git-annex" if annex else "put that there or take the link out"
        )
        where = "data that was not fetched" if annex else f"{target!r}, where nothing is"
        return FileNotFoundError(f"path: {str(path)!r} is a link to {where}; {remedy}")
    return FileNotFoundError(f"path: there is no file or folder {str(path)!r}; give the path of one that is there")


def stem_of(name: str) -> str:
    """The name of a file without its ending: `2024.05.01_P1` of `2024.05.01_P1.csv.gz`."""
    bare = re.sub(r"\.gz$", "", name, flags=re.IGNORECASE)
    return Path(bare).stem if bare.lower().endswith(SUFFIXES) else bare


def content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where they are packed, whatever its name says; R packs its own itself."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise absent(path) from None
    if data.startswith(_GZIP) and path.suffix.lower() != ".rds":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(
                f"{path.name}: the compressed file is cut off or damaged ({error}); get it again"
            ) from None
    if not data.strip():
        raise ValueError(f"{path.name}: the file is empty; expected a table")
    return data


def columns_of_rows(names: Sequence[str], rows: list[list[str]]) -> dict[str, Array]:
    """Turn rows of cells into columns, None for an empty cell; every row has a cell for every name."""
    if len(set(names)) < len(names):
        check_names(names)
    wrong = next((k for k, row in enumerate(rows) if len(row) != len(names)), None)
    if wrong is not None:
        last = " (it is the last: is the file cut off?)" if wrong == len(rows) - 1 > 0 else ""
        raise ValueError(f"row {wrong + 1} has {len(rows[wrong])} cells, expected {len(names)}; correct that row{last}")
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: objects([cell or None for cell in column]) for name, column in zip(names, cells, strict=True)}


def without_blank_rows(columns: dict[str, Array]) -> dict[str, Array]:
    """Return columns without the rows that have no cell at all, as spreadsheets leave them at the end."""
    blank = np.array([True])
    for cells in columns.values():
        blank = blank & (cells == None)  # noqa: E711 (of every cell)
        if not blank.any():
            return columns
    return {name: cells[~blank] for name, cells in columns.items()}


def without_headers(columns: dict[str, Array]) -> tuple[dict[str, Array], list[str]]:
    """Return columns without rows that are the header again, as files that were joined have them; and say so.

    Names of a single letter may be items: `i,j,k` is a header, and a row about i, j and k.
    """
    again = np.array([max(map(len, columns), default=0) > 1])
    for name, cells in columns.items():
        again = again & (cells == name)
        if not again.any():
            return columns, []
    rows = np.flatnonzero(again)
    more = f", as are {len(rows) - 1:,} more: they are left out" if len(rows) > 1 else " and is left out"
    return {name: cells[~again] for name, cells in columns.items()}, [f"row {rows[0] + 1} is the header again{more}"]


def check_names(names: Sequence[str]) -> None:
    """Refuse two columns of one name, whatever their case and the spaces around it."""
    plain = [name.strip().lower() for name in names]
    for k, name in enumerate(plain):
        if name and name in plain[:k]:
            raise ValueError(
                f"two columns have the same name: columns {plain.index(name) + 1} and {k + 1} are both called "
                f"{names[k]!r}; give each a name of its own"
            )


def headed_by_columns(columns: dict[str, Array]) -> Table:
    """Take what similitude wrote about a CSV file out of the first cells of `format` and `items`."""
    about = {name: cells[0] for name, cells in columns.items() if name in ("format", "items") and len(cells)}
    try:
        header: Header = {name: json.loads(cell) for name, cell in about.items()}
    except (TypeError, json.JSONDecodeError, RecursionError):
        header = {}
    ours = len(header) == 2
    texts = {str(plain(name)): plain_column(cells) for name, cells in columns.items() if not ours or name not in header}
    return Table(texts, header if ours else None, typed=False)


def parse_json_lines(data: bytes) -> Table:
    """Read one JSON object per line; a first line with a `format` is about the file."""
    rows = []
    for number, line in enumerate(decoded(data)[0].split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is cut off or is not JSON ({error.msg}); correct it") from None
        except ValueError:
            raise ValueError(f"line {number} holds {ENDLESS}; correct it") from None
        except RecursionError:
            raise ValueError(f"line {number} has lists in lists without end; expected one object per answer") from None
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
        raise ValueError(f"the Parquet file is cut off or damaged ({error}); get it again") from None
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
    names = [str(name) for name in frame.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"columns: the table has {names.count(twice)} columns called {twice!r}; rename or drop one")
    columns = {}
    for name in frame.columns:
        cells = frame[name].to_numpy(object, copy=True)
        cells[frame[name].isna().to_numpy()] = None
        columns[str(name)] = cells
    return Table(columns, None, typed=True)


def objects(values: list[Any]) -> Array:
    """Return a column of any values, lists included; what is not a number (NaN) is an empty cell."""
    filled = (None if isinstance(value, float) and value != value else value for value in values)
    return np.fromiter(filled, object, len(values))
