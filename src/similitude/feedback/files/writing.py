"""Tables as the bytes of a file: blocks of rows in, pieces of it out, so that a file of any length needs no memory.

b"".join(pieces(".csv", [{"shown": [["a", "b"]]}, {"shown": [["b", "a"]]}], {"format": 1, "items": ["a", "b"]}))
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from similitude.feedback.files.spreadsheets import defused
from similitude.feedback.files.tables import Header, pyarrow

Block = Mapping[str, list[Any]]
WRITTEN = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_ABOUT = ("format", "items")
_ROW_GROUP = 5_000  # rows that Parquet holds in memory together


def pieces(
    kind: str, blocks: Iterable[Block], header: Header, types: Mapping[str, Any] | None = None
) -> Iterator[bytes]:
    """The bytes of a file.

    Parameters
    ----------
    kind : its suffix, one of `WRITTEN`
    blocks : columns of further rows, with the same names in each
    header : what is about the file: format and items
    types : what the columns hold (`str`, `int`, `float`, `list[str]`, `list[float]`): for Parquet in several blocks, of
        which the first may not tell
    """
    if kind in (".csv", ".tsv"):
        return _text(blocks, header, "," if kind == ".csv" else "\t")
    return _parquet(blocks, header, types) if kind == ".parquet" else _json_lines(blocks, header)


def _text(blocks: Iterable[Block], header: Header, separator: str) -> Iterator[bytes]:
    """Separated text; lists as JSON, what is about the file in the first row of columns of its own."""
    about: tuple[str, ...] = tuple(_json(header[name]) for name in _ABOUT)
    for k, block in enumerate(blocks):
        rows: list[tuple[str, ...]] = [] if k else [(*block, *_ABOUT)]
        for row in zip(*([_cell(value) for value in column] for column in block.values()), strict=True):
            rows.append((*row, *about))
            about = ("",) * len(_ABOUT)
        yield "".join(separator.join(_quoted(cell, separator) for cell in row) + "\n" for row in rows).encode()


def _quoted(cell: str, separator: str) -> str:
    """Quote what needs it; the csv module leaves a lone carriage return bare."""
    if '"' in cell or separator in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _json(value) if isinstance(value, list) else defused(value) if isinstance(value, str) else str(value)


_json = json.JSONEncoder(ensure_ascii=False).encode


def _json_lines(blocks: Iterable[Block], header: Header) -> Iterator[bytes]:
    """A line about the file, then one object per row; the first has all columns, empty ones too."""
    yield f"{_json(header)}\n".encode()
    whole = True
    for block in blocks:
        lines = []
        for row in zip(*block.values(), strict=True):
            named = zip(block, row, strict=True)
            lines.append(_json({name: value for name, value in named if whole or value is not None}) + "\n")
            whole = False
        yield "".join(lines).encode()


def _parquet(blocks: Iterable[Block], header: Header, types: Mapping[str, Any] | None) -> Iterator[bytes]:
    """Parquet, in groups of rows; what is about the file stands in the schema."""
    pa, pq = pyarrow()
    sink, writer = _Sink(), None
    for table in _groups(blocks, types):
        if writer is None:
            schema = table.schema.with_metadata({b"similitude": _json(header).encode()})
            writer = pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema)
        writer.write_table(table.replace_schema_metadata(schema.metadata))
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


def _groups(blocks: Iterable[Block], types: Mapping[str, Any] | None) -> Iterator[Any]:
    """Tables of as many rows as are written together."""
    pa, _ = pyarrow()
    known = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    known |= {list[str]: pa.list_(pa.string()), list[float]: pa.list_(pa.float64())}
    waiting: list[Any] = []
    for block in blocks:
        arrays = {name: pa.array(column, types and known[types[name]]) for name, column in block.items()}
        waiting.append(pa.table(arrays))
        if sum(len(table) for table in waiting) >= _ROW_GROUP:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


class _Sink:
    """A file to write to whose bytes are taken out as they come."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(self._pieces[-1])

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """What was written can still be taken."""

    def taken(self) -> bytes:
        """What was written since the last time."""
        found, self._pieces = b"".join(self._pieces), []
        return found
