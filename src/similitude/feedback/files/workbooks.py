"""Tables of other programs: Excel (.xlsx), LibreOffice (.ods), SPSS (.sav) and R (.rds), each by a library of its own.

A cell of a spreadsheet may be a formula; what counts is the value that the program stored beside it. Where there is
none (a file that no spreadsheet program has saved), or it is an error such as #N/A, the cell is named and nothing is
guessed.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from similitude.extras import need
from similitude.feedback.files.tables import Table, check_names, objects, of_frame, without_blank_rows

ERRORS = ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!")


def parse_xlsx(data: bytes) -> Table:
    """Read the first sheet of a workbook that holds a table."""
    need("tables", "an Excel file")
    import openpyxl

    try:
        values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        formulas = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    except Exception as error:  # of a damaged file, whatever the parts of it raise
        raise ValueError(f"the Excel file is cut off or damaged ({error}); get it again") from None
    for sheet in values.sheetnames:
        rows = [list(row) for row in values[sheet].iter_rows(values_only=True)]
        said = [list(row) for row in formulas[sheet].iter_rows(values_only=True)]
        if any(cell is not None for row in rows + said for cell in row):
            return _sheet(rows, said, sheet)
    raise ValueError("the workbook has no sheet with cells in it; expected rows of answers")


def _sheet(rows: list[list[Any]], said: list[list[Any]], sheet: str) -> Table:
    """Make a table of a sheet whose first row with cells names the columns."""
    top = next(k for k, row in enumerate(said) if any(cell is not None for cell in row))
    width = max(k + 1 for k, cell in enumerate(said[top]) if cell is not None)
    names = [str(cell).strip() if cell is not None else f"column {k + 1}" for k, cell in enumerate(said[top][:width])]
    check_names(names)
    for place, (row, formula) in enumerate(zip(rows[top + 1 :], said[top + 1 :], strict=True), top + 2):
        _check_cells(row[:width], formula[:width], names, sheet, place)
    body = [(row + [None] * width)[:width] for row in rows[top + 1 :]]
    columns = {name: objects([_cell(row[k]) for row in body]) for k, name in enumerate(names)}
    return Table(without_blank_rows(columns), None, typed=True)


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


def parse_ods(data: bytes) -> Table:
    """Read the first sheet of an OpenDocument spreadsheet."""
    need("tables", "an OpenDocument spreadsheet")
    import pandas as pd

    try:
        frame = pd.read_excel(io.BytesIO(data), engine="odf", header=None, dtype=object)
    except Exception as error:
        raise ValueError(f"the .ods file is cut off or damaged ({error}); get it again") from None
    rows = [[None if cell is None or cell != cell else cell for cell in row] for row in frame.to_numpy(object).tolist()]
    return _sheet(rows, rows, "the first")


def parse_sav(data: bytes) -> Table:
    """Read an SPSS file; values that have labels are read as their labels."""
    need("tables", "an SPSS file")
    import pyreadstat

    with _as_file(data, ".sav") as path:
        try:
            frame, _ = pyreadstat.read_sav(path, apply_value_formats=True)
        except Exception as error:
            raise ValueError(f"the SPSS file is cut off or damaged ({error}); get it again") from None
    return _plain(of_frame(frame))


def parse_rds(data: bytes) -> Table:
    """Read a data frame that R wrote with `saveRDS`."""
    need("tables", "an R file")
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
