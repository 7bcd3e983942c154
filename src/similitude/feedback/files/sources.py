"""A file as it lies there: its bytes, what they are by looking, and the table or JSON document that they hold."""

from __future__ import annotations

import io
import json
import re
import zipfile
from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from similitude.feedback.files import tables, workbooks
from similitude.feedback.files.decoding import decoded
from similitude.feedback.files.separated import WrittenTable, parse_separated
from similitude.feedback.files.tables import Table, objects

_MAGIC = (
    (b"PAR1", ".parquet"), (b"$FL2", ".sav"), (b"$FL3", ".sav"), (b"\x89HDF\r\n", ".hdf5"), (b"MATLAB 5.0", ".mat"),
    (b"\x93NUMPY", ".npy"),
)  # fmt: skip
_PAGE = "a web page (HTML), no table; open it in a browser or spreadsheet, and save its table as CSV"
_WORKBOOK = "an Excel file that is old (.xls) or has a password; save it as .xlsx without one, or as CSV"
_POINTER = "a pointer to data that was not fetched; fetch it by"
_NO_TABLE = (
    (b"<!doctype html", _PAGE), (b"<html", _PAGE), (b"<head", _PAGE), (b"<body", _PAGE), (b"<table", _PAGE),
    (b"\xd0\xcf\x11\xe0", _WORKBOOK),
    (b"version https://git-lfs", f"{_POINTER} `git lfs pull`"),
    (b"/annex/objects/", f"{_POINTER} git-annex or DataLad"),
)  # fmt: skip
_PREAMBLE = re.compile(rb"\A(\s*(<\?xml.*?\?>|<!--.*?-->))+", re.DOTALL)  # of a web page
_USUAL = {".csv": ",", ".tsv": "\t", ".txt": " "}
_TEXT = tuple(_USUAL)


@dataclass(frozen=True)
class FileSource:
    """A file to be read.

    Attributes
    ----------
    name : the name of the file
    kind : what it is, as a suffix: by its first bytes, else by its name
    data : its bytes, unpacked
    wanted : columns that the user speaks of: of several sheets, the one that has them is meant
    """

    name: str
    kind: str
    data: bytes
    wanted: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path, wanted: Iterable[str] = ()) -> FileSource:
        """Look at a file."""
        if not path.exists():  # said before the name's ending is judged: a folder has none
            raise tables.absent(path)
        kind = tables.kind_of(path)
        data = tables.content(path)
        return cls(path.name, _kind(data, kind), data, tuple(wanted))

    @property
    def stem(self) -> str:
        """The name of the file without its ending: of a file per participant, who that is."""
        return tables.stem_of(self.name)

    @cached_property
    def document(self) -> Any:
        """What a JSON file holds; None for other files."""
        if self.kind != ".json":
            return None
        text = decoded(self.data)[0]
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"line {error.lineno}, character {error.colno}: the file is cut off or is not JSON ({error.msg}); "
                "correct it"
            ) from None
        except ValueError:
            raise ValueError(f"the JSON holds {tables.ENDLESS}; correct it") from None
        except RecursionError:
            raise ValueError("the JSON has lists in lists without end; expected a list of rows") from None

    @cached_property
    def _separated(self) -> tuple[Table, WrittenTable]:
        from similitude.feedback.files.layouts import layouts

        return parse_separated(self.data, _USUAL[self.kind], [layout.columns for layout in layouts()])

    @property
    def written(self) -> WrittenTable | None:
        """How a text file is written; None for other files."""
        return self._separated[1] if self.kind in _TEXT else None

    @cached_property
    def table(self) -> Table | None:
        """The table in the file; None where it holds arrays or a document that is no list of rows."""
        if self.kind in _TEXT:
            return self._separated[0]
        if self.kind in (".jsonl", ".ndjson"):
            return tables.parse_json_lines(self.data)
        if self.kind == ".json":
            return _records(self.document)
        if self.kind in _BOOKS:
            return _BOOKS[self.kind](self.data, self.wanted)
        parse = _PARSERS.get(self.kind)
        return None if parse is None else parse(self.data)

    def has(self, *names: str) -> bool:
        """Whether the file holds a table with these columns."""
        return self.table is not None and set(names) <= set(self.table.columns)

    def arrays(self) -> dict[str, Any]:
        """The arrays of a numpy file."""
        try:
            loaded = np.load(io.BytesIO(self.data), allow_pickle=False)
            return {"": loaded} if isinstance(loaded, np.ndarray) else {key: loaded[key] for key in loaded.files}
        except Exception as error:  # numpy raises many kinds for a damaged file
            raise ValueError(f"the file holds no plain arrays ({error}); save items as whole numbers") from None


_PARSERS = {
    ".parquet": tables.parse_parquet, ".sav": workbooks.parse_sav, ".rds": workbooks.parse_rds,
}  # fmt: skip
_BOOKS = {".xlsx": workbooks.parse_xlsx, ".ods": workbooks.parse_ods}


def about_file(error: Exception, path: Path) -> Exception:
    """An error of reading a file that names it."""
    if str(error).startswith(("path:", f"{path.name}:")):
        return error
    return retold(error, f"{path.name}: {error}")


def retold(error: Exception, message: str) -> Exception:
    """An error in other words."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(message)


def _kind(data: bytes, named: str) -> str:
    """What a file is by its first bytes, where they tell; a text file by its name, or by what it begins with."""
    found = next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)
    if found is not None:
        return found
    if data.startswith(b"PK\x03\x04"):
        return _kind_of_archive(data, named)
    begins = _PREAMBLE.sub(b"", data[:4000].removeprefix(BOM_UTF8)).lstrip().lower()
    other = next((what for start, what in _NO_TABLE if begins.startswith(start)), None)
    if other is not None:
        raise ValueError(f"this is {other}")
    if named == ".json" and data.lstrip().startswith(b"{") and b"}\n{" in data.replace(b"\r", b""):
        return ".jsonl"
    return named


def _kind_of_archive(data: bytes, named: str) -> str:
    try:
        inside = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        if named in _TEXT:
            raise ValueError("this is no text but a cut off spreadsheet or archive; get it again") from None
        return named
    if "xl/workbook.xml" in inside:
        return ".xlsx"
    return ".ods" if "content.xml" in inside else named


def _records(document: Any) -> Table | None:
    """A list of JSON objects as a table; one of lists with names in front, too."""
    if isinstance(document, dict):
        lists = {key: value for key, value in document.items() if isinstance(value, list)}
        if lists and len(lists) == len(document) and len({len(value) for value in lists.values()}) == 1:
            return Table({str(key): objects(value) for key, value in lists.items()}, None, typed=True)
        document = next((value for value in lists.values() if _are_rows(value)), None)
    if not _are_rows(document):
        return None
    keys = dict.fromkeys(key for row in document for key in row)
    return Table({str(key): objects([_blank(row.get(key)) for row in document]) for key in keys}, None, typed=True)


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value
