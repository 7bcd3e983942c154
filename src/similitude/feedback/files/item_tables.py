"""Tables about items beside answers (names, features, classes, distances): a row for each, named in the first column.

They come in every kind of file in which answers come, and are told to be something else in the same words.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.extras import need
from similitude.feedback.files.separated import WrittenTable, is_number
from similitude.feedback.files.sources import FileSource, about_file
from similitude.feedback.files.tables import Table, objects, pyarrow
from similitude.types import Array

if TYPE_CHECKING:
    import pandas as pd

_UNKNOWN = frozenset(("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"))
_INDEX = "__index_level_0__"  # what pandas calls an index without a name in a Parquet file
_TRUTH = {"true": True, "false": False}
_READERS = {".xlsx": "read_excel", ".ods": "read_excel", ".parquet": "read_parquet", ".sav": "read_spss"}
_CODES = {"UTF-16": "utf-16", "UTF-32": "utf-32", "Latin-1": "cp1252"}


@dataclass(frozen=True, eq=False)
class ItemTable:
    """A table as it stands in a file.

    Attributes
    ----------
    path : the file
    kind : what the file is, as a suffix
    written : how a text file is written, None for others
    header : names of the columns, None where the first line has none: it begins with a number
    columns : their cells, None where one is empty
    """

    path: Path
    kind: str
    written: WrittenTable | None
    header: list[str] | None
    columns: list[Array]

    def texts(self) -> pd.DataFrame:
        """All cells as text, empty ones as the empty text."""
        import pandas as pd

        return pd.DataFrame(
            {name: _texts(cells) for name, cells in zip(self._names, self.columns, strict=True)}, dtype=str
        )

    def by_item(self) -> pd.DataFrame:
        """The table with the first column, as text, for its index; the others as numbers where they hold such."""
        import pandas as pd

        items = _texts(self.columns[0])
        if "" in items:
            raise ValueError(f"{self.path.name}: row {items.index('') + 1} has no name in the first column; fill it in")
        cells = zip(self._names[1:], self.columns[1:], strict=True)
        return pd.DataFrame({name: _values(column) for name, column in cells}, pd.RangeIndex(len(items))).set_axis(
            items
        )

    def by_position(self) -> pd.DataFrame:
        """The table with rows and columns by number; columns as numbers where they hold such."""
        import pandas as pd

        return pd.DataFrame({k: _values(cells) for k, cells in enumerate(self.columns)})

    @property
    def _names(self) -> list[str]:
        return self.header or [f"column {k + 1}" for k in range(len(self.columns))]

    def in_python(self, *, by_item: bool = True, words: bool = False) -> str:
        """The call of pandas that reads the same; with all cells as text where `words` are wanted."""
        said = [repr(str(self.path))]
        if self.written is not None:
            separator, code = self.written.separator or r"\s+", _CODES.get(self.written.encoding)
            said += [f"sep={separator!r}"] if separator != "," else []
            said += [f"encoding={code!r}"] if code else []
            said += ["decimal=','"] if self.written.decimal_comma else []
        call = f"pd.{_READERS.get(self.kind, 'read_csv')}"
        if not by_item:
            return f"{call}({', '.join([*said, 'header=None'])})"
        said += [f"header=None, names={self._names}"] if self.header is None else []
        typed = self.kind == ".parquet"
        if words and not typed:
            said += ["dtype=str", "keep_default_na=False"]
        elif not typed:
            doubtful = not _UNKNOWN.isdisjoint(_texts(self.columns[0]))
            said += ["converters={0: str}", *(["keep_default_na=False, na_values=['']"] if doubtful else [])]
        blank = self.header is not None and self.header[0] in ("", "column 1")
        first = "Unnamed: 0" if blank else self._names[0]
        index = f".set_index({first!r})"
        if typed:
            is_index = not self._names[0] or self._names[0] in _indices(self.path.read_bytes())
            index = f"{'' if is_index else index}.rename(index=str)"
        return f"{call}({', '.join(said)}){index}"


def read_item_table(path: Path) -> ItemTable:
    """Read a table about items from any kind of file; every error names the file."""
    if path.suffix == ".parquet":
        need("parquet", f"{path.name}: a Parquet file")
    try:
        source = FileSource.open(path)
        table = source.table
    except (ValueError, TypeError) as error:
        raise about_file(error, path) from None
    if table is None or not table.columns:
        raise ValueError(f"{path.name}: the file holds no table; expected a row per item, its name first")
    for note in table.notes:
        warnings.warn(f"{path.name}: {note}", stacklevel=2)
    return ItemTable(path, source.kind, source.written, *_headed(table, source))


def read_numbers(path: Path) -> tuple[pd.DataFrame, str]:
    """What is known of items in numbers, by item, and the call of pandas that reads the same.

    Vectors may be many: a table that is plainly written goes by pandas alone, in a tenth of the time.
    """
    found = _numbers_in_parquet(path) if path.suffix == ".parquet" else _plain_numbers(path)
    if found is not None:
        return found
    table = read_item_table(path)
    return table.by_item(), table.in_python()


def _numbers_in_parquet(path: Path) -> tuple[pd.DataFrame, str] | None:
    """Every column but the first, or but the index that pandas keeps; None where the careful way says what is wrong."""
    import pandas as pd

    need("parquet", f"{path.name}: a Parquet file")
    try:
        table = pd.read_parquet(path)
    except (ValueError, OSError):
        return None
    if not len(table.columns):
        return None
    has_index = table.index.name is not None or not pd.api.types.is_numeric_dtype(table.index.dtype)
    index = "" if has_index else f".set_index({table.columns[0]!r})"
    table = table if has_index else table.set_index(table.columns[0])
    return table.set_axis(table.index.map(str)), f"pd.read_parquet({str(path)!r}){index}.rename(index=str)"


def _plain_numbers(path: Path) -> tuple[pd.DataFrame, str] | None:
    """A table in UTF-8 with a header, and a number in every cell but the first of a row; None for any other."""
    import pandas as pd

    said = {".csv": "", ".tsv": ", sep='\\t'"}.get(path.suffix)
    if said is None:
        return None
    sign = "\t" if said else ","
    try:
        table = pd.read_csv(path, sep=sign, index_col=0, converters={0: str}, keep_default_na=False)
    except (ValueError, OSError):
        return None
    plain = all(kind.kind in "iuf" for kind in table.dtypes) and len(table.columns)
    headed = table.index.name is not None and not is_number(str(table.index.name))
    if not plain or not headed or (table.index.str.strip() == "").any():
        return None
    return table, f"pd.read_csv({str(path)!r}{said}, index_col=0, converters={{0: str}}, keep_default_na=False)"


def _headed(table: Table, source: FileSource) -> tuple[list[str] | None, list[Array]]:
    """Names of the columns and the cells below: a first line that begins with a number names no columns.

    Whether a line of names stands over a file of answers is told by its words; here these may be an item's.
    """
    found = dict(table.columns)
    if source.kind == ".parquet":  # pandas writes the names that it has for an index last
        found = {name: found[name] for name in _indices(source.data)} | found
    if _INDEX in found:  # names go first; rows that are counted are no column
        index = found.pop(_INDEX)
        found = {"": index, **found} if any(isinstance(cell, str) for cell in index) else found
    columns = list(found.values())
    named = source.written is None or source.written.header
    first = list(found) if named else [cells[0] for cells in columns]
    can_lack = source.written is not None or source.kind in (".xlsx", ".ods")
    begins = str(first[0] or "")
    header = not can_lack or not (is_number(begins) or (not named and begins in _UNKNOWN))
    if named and not header:
        columns = [objects([name, *cells.tolist()]) for name, cells in zip(first, columns, strict=True)]
    elif header and not named:
        columns = [cells[1:] for cells in columns]
    return [str(name or "") for name in first] if header else None, columns


def _indices(data: bytes) -> list[str]:
    """The columns of a Parquet file that are an index with a name in pandas."""
    pa, pq = pyarrow()
    about = pq.read_schema(pa.BufferReader(data)).pandas_metadata or {}
    return [name for name in about.get("index_columns", ()) if isinstance(name, str) and name != _INDEX]


def _texts(cells: Array) -> list[str]:
    """Cells as text; 7.0, as programs write numbers beside empty cells, is 7."""
    return [
        "" if cell is None else str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)
        for cell in cells.tolist()
    ]


def _values(cells: Array) -> Any:
    """A column as numbers, or as true and false, where all that is known is such; else as it is."""
    import pandas as pd

    found = pd.Series(cells, dtype=object)
    try:
        return pd.to_numeric(found)
    except (ValueError, TypeError):
        known = found.mask(np.array([cell is None or str(cell).strip() in _UNKNOWN for cell in cells], bool))
    try:
        return pd.to_numeric(known)
    except (ValueError, TypeError):
        truth = known.map(lambda cell: _TRUTH.get(str(cell).strip().lower()))
        return known if truth.isna().any() else truth.astype(bool)
