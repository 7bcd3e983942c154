"""Tables of other programs: Excel (.xlsx), LibreOffice (.ods), SPSS (.sav) and R (.rds), each by a library of its own.

A cell of a spreadsheet may be a formula; what counts is the value that the program stored beside it. Where there is
none (a file that no spreadsheet program has saved), or it is an error such as #N/A, the cell is named and nothing is
guessed.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.extras import need
from similitude.feedback.files.tables import (
    ERRORS,
    Table,
    check_names,
    objects,
    of_frame,
    without_blank_rows,
    without_headers,
)


@dataclass(frozen=True)
class _BookSheet:
    """A sheet with cells in it: of each row that is not blank its number, the values, and what was written there."""

    name: str
    rows: Sequence[tuple[int, list[Any], list[Any]]]

    @property
    def names(self) -> list[str]:
        """What the first row calls the columns."""
        first = self.rows[0][2]
        width = max(k + 1 for k, cell in enumerate(first) if cell is not None)
        return [str(cell).strip() if cell is not None else f"column {k + 1}" for k, cell in enumerate(first[:width])]

    def table(self) -> Table:
        """The rows below the names, whatever stands there."""
        width = len(self.names)
        body = [(row + [None] * width)[:width] for _, row, _ in self.rows[1:]]
        columns = {name: objects([_cell(row[k]) for row in body]) for k, name in enumerate(self.names)}
        return Table(without_blank_rows(columns), None, typed=True)

    def checked(self) -> Table:
        """The same, where every column has a name of its own and every cell a value."""
        check_names(self.names)
        for number, row, formula in self.rows[1:]:
            _check_cells(row[: len(self.names)], formula, self.names, self.name, number)
        columns, notes = without_headers(dict(self.table().columns))
        return Table(columns, None, typed=True, notes=notes)


def parse_xlsx(data: bytes, wanted: Collection[str] = ()) -> Table:
    """Read the sheet of a workbook that holds answers; `wanted` are columns that it has for sure."""
    need("tables", "an Excel file", "openpyxl")
    try:
        sheets = _sheets_of_xlsx(data)
    except Exception as error:  # of a damaged file, whatever the parts of it raise
        raise ValueError(f"the Excel file is cut off or damaged ({error}); get it again") from None
    return _answers_of(sheets, wanted)


def _sheets_of_xlsx(data: bytes) -> list[_BookSheet]:
    """Every sheet but charts; how large one says it is does not count, since a stray cell makes it enormous."""
    import openpyxl

    values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    formulas = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    sheets = []
    for value, formula in zip(values.worksheets, formulas.worksheets, strict=True):
        value.reset_dimensions()
        formula.reset_dimensions()
        both = zip(value.iter_rows(values_only=True), formula.iter_rows(values_only=True), strict=True)
        rows = [(number, list(row), list(said)) for number, (row, said) in enumerate(both, 1) if _any_cell(said)]
        sheets.append(_BookSheet(value.title, rows))
    return sheets


def _any_cell(row: Iterable[Any]) -> bool:
    """Whether a row has a cell at all."""
    return any(cell is not None for cell in row)


def _answers_of(sheets: Sequence[_BookSheet], wanted: Collection[str]) -> Table:
    """The table of the sheet that holds answers; of several that are called alike, all of them."""
    from similitude.feedback.files.layouts import fits

    written = [sheet for sheet in sheets if sheet.rows]
    if not written:
        raise ValueError("the workbook has no sheet with cells in it; expected rows of answers")
    full = [sheet for sheet in written if len(sheet.rows) > 1] or written
    plain = {name.strip().lower() for name in wanted}
    likely = [sheet for sheet in full if plain <= {name.lower() for name in sheet.names}] or full
    chosen = [sheet for sheet in likely if len(likely) > 1 and fits(sheet.table())] or likely[:1]
    if any(sheet.names != chosen[0].names for sheet in chosen):
        raise ValueError(
            f"the sheets {_named(chosen)} hold answers in different columns; save the one to be read as a file"
        )
    tables = [sheet.checked() for sheet in chosen]
    columns = {name: np.concatenate([table.columns[name] for table in tables]) for name in chosen[0].names}
    notes = [note for table in tables for note in table.notes]
    return Table(columns, None, typed=True, notes=[*_which(chosen, written), *notes])


def _which(chosen: Sequence[_BookSheet], written: Sequence[_BookSheet]) -> list[str]:
    """Which sheets were read, where there is more than one."""
    others = [sheet for sheet in written if sheet not in chosen]
    left = f"; {_named(others)} left out" if others else ""
    if len(chosen) > 1:
        return [f"the sheets {_named(chosen)} are read together{left}"]
    return [f"the sheet {_named(chosen)} is read{left}"] if others else []


def _named(sheets: Sequence[_BookSheet]) -> str:
    return ", ".join(repr(sheet.name) for sheet in sheets)


def _check_cells(row: Sequence[Any], formula: Sequence[Any], names: Sequence[str], sheet: str, place: int) -> None:
    for value, written, name in zip(row, formula, names, strict=False):
        if value is None and isinstance(written, str) and written.startswith("="):
            raise ValueError(
                f"row {place} of {name!r} (sheet {sheet!r}) is a formula without a value ({written}); open the file in "
                "Excel, save it, or put values in place of the formulas"
            )
        if value in ERRORS:
            raise ValueError(f"row {place} of {name!r} (sheet {sheet!r}) is the error {value}; correct that cell")


def _cell(value: Any) -> Any:
    """A cell as text or number: dates as ISO text, spaces alone as empty."""
    if isinstance(value, str):
        return value if value.strip() else None
    return value.isoformat() if hasattr(value, "isoformat") else value


def parse_ods(data: bytes, wanted: Collection[str] = ()) -> Table:
    """Read the sheet of an OpenDocument spreadsheet that holds answers; `wanted` are columns that it has for sure."""
    need("tables", "an OpenDocument spreadsheet", "odf")
    import pandas as pd

    try:
        frames = pd.read_excel(io.BytesIO(data), engine="odf", header=None, dtype=object, sheet_name=None)
    except Exception as error:
        raise ValueError(f"the .ods file is cut off or damaged ({error}); get it again") from None
    sheets = []
    for name, frame in frames.items():
        rows = [objects(row).tolist() for row in frame.to_numpy(object).tolist()]
        sheets.append(_BookSheet(str(name), [(k, row, row) for k, row in enumerate(rows, 1) if _any_cell(row)]))
    return _answers_of(sheets, wanted)


def parse_sav(data: bytes) -> Table:
    """Read an SPSS file; values that have labels are read as their labels."""
    need("tables", "an SPSS file", "pyreadstat")
    import pyreadstat

    with _as_file(data, ".sav") as path:
        try:
            frame, _ = pyreadstat.read_sav(path, apply_value_formats=True)
        except Exception as error:
            raise ValueError(f"the SPSS file is cut off or damaged ({error}); get it again") from None
    return _plain(of_frame(frame))


def parse_rds(data: bytes) -> Table:
    """Read a data frame that R wrote with `saveRDS`."""
    need("tables", "an R file", "pyreadr")
    import pyreadr

    with _as_file(data, ".rds") as path:
        try:
            frames = pyreadr.read_r(path)
        except Exception as error:
            raise ValueError(
                f"the R file holds no data frame, or is cut off ({error}); write one with saveRDS(as.data.frame(x))"
            ) from None
    return _plain(of_frame(next(iter(frames.values()))))


def _plain(table: Table) -> Table:
    """Empty texts as empty cells, and categories as their names."""
    columns = {name: objects([_cell(cell) for cell in cells.tolist()]) for name, cells in table.columns.items()}
    return Table(columns, None, typed=True)


class _as_file:
    """A file on disk with these bytes, for libraries that read paths alone."""

    def __init__(self, data: bytes, suffix: str) -> None:
        self.data, self.suffix = data, suffix

    def __enter__(self) -> str:
        handle, self.path = tempfile.mkstemp(self.suffix)
        with os.fdopen(handle, "wb") as stream:
            stream.write(self.data)
        return self.path

    def __exit__(self, *_: object) -> None:
        os.unlink(self.path)
