"""What a file is by its content, so that a command that gets the wrong kind says which it got and what takes it.

Files are read as what a command wants; only where that fails is the file looked at again, so that the right kind costs
nothing more, and nothing that can be read is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from similitude.cli.output import in_shell


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    words : what to call such a file
    remedy : what to do with it, with `{file}` where its name goes; empty where no command takes it
    """

    words: str
    remedy: str = ""


MODEL = Kind(
    "a model (.sim)",
    "`similitude info {file}` describes it, `plot` draws it, `export` writes it as a table for Excel or R",
)
ANSWERS = Kind("answers", "`similitude fit {file}` makes a model of them, `similitude learn {file}` a report")
FEATURES = Kind("a table of features", "give it beside answers, as `similitude fit ANSWERS --features {file}`")
DISTANCES = Kind(
    "a square table of dissimilarities",
    "`similitude fit {file}` makes a model of it, `similitude compare MODEL {file}` compares it with one",
)
ARRAYS = Kind(
    "arrays of numpy",
    "for features, write them as a table with the items' names in the first column: "
    "`pandas.DataFrame(numpy.load({file!r}), index=names).to_csv('features.csv')`, with `names` in the order of the "
    "array's rows, as whoever made it knows (answers keep no order: they are read by name)",
)
PICTURE = Kind("a picture", "a folder of pictures goes to --images, or into a study: `similitude study new FOLDER`")
DOCUMENT = Kind("a document (PDF or HTML)", "open it in a browser; the answers and the model are in files of their own")
DATABASE = Kind("a database", "`similitude study export FOLDER answers.csv` writes the answers of a study")
STUDY = Kind("the folder of a study", "`similitude study export {file} answers.csv` writes its answers")
REPORT = Kind("the folder of a report", "open its report.html; its model.sim goes to `plot`, `export` and `next`")

_BEGINS = (
    (b"\x89PNG", PICTURE), (b"\xff\xd8\xff", PICTURE), (b"GIF8", PICTURE), (b"<svg", PICTURE), (b"RIFF", PICTURE),
    (b"%PDF", DOCUMENT), (b"<!doctype html", DOCUMENT), (b"<html", DOCUMENT), (b"SQLite format 3", DATABASE),
    (b"\x93NUMPY", ARRAYS),
)  # fmt: skip


@contextmanager
def expecting(path: Path, *wanted: Kind, also: tuple[Kind, ...] = ()) -> Iterator[None]:
    """Read a file in here: what goes wrong is said by the kind of the file, where it is none of those wanted.

    Kinds in `also` are read, too, but are not what a message asks for.
    """
    try:
        yield
    except (ValueError, TypeError):
        found, expected = kind_of(path), " or ".join(kind.words for kind in wanted)
        if found is None or found in (*wanted, *also):
            raise
        remedy = found.remedy.replace("{file!r}", repr(str(path))).replace("{file}", in_shell(path))
        raise ValueError(f"{path}: expected {expected}, found {found.words}; {remedy}") from None


def kind_of(path: Path) -> Kind | None:
    """What a file or folder is by its content; None where it is not there, or nothing that is known."""
    if path.is_dir():
        return _kind_of_folder(path)
    if not path.is_file():
        return None
    with path.open("rb") as file:
        start = file.read(64).lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    found = next((kind for begins, kind in _BEGINS if start.startswith(begins.lower())), None)
    return found or _kind_of_archive(path) or _kind_of_table(path)


def is_model(path: Path) -> bool:
    """Whether a file is meant as a model: by its name, or by what is in it."""
    return path.suffix == ".sim" or (path.is_file() and _kind_of_archive(path) == MODEL)


def _kind_of_folder(path: Path) -> Kind | None:
    if (path / "study.toml").is_file():
        return STUDY
    return REPORT if (path / "report.html").is_file() else None


def _kind_of_archive(path: Path) -> Kind | None:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            inside = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):  # a damaged one raises any of these
        return None
    if {"header.npy", "embedding.npy"} <= {*inside}:
        return MODEL
    return ARRAYS if inside and all(name.endswith(".npy") for name in inside) else None


def _kind_of_table(path: Path) -> Kind | None:
    """What a table is: answers where it can be read as such, else features where names are followed by numbers."""
    import similitude as sm
    from similitude.feedback.files.sources import FileSource

    try:
        return DISTANCES if sm.understand(path).tool == "a square table" else ANSWERS
    except (ValueError, TypeError, OSError, ImportError):
        pass
    try:
        table = FileSource.open(path).table
    except (ValueError, TypeError, OSError, ImportError):
        return None
    return FEATURES if table is not None and _are_features([*table.columns.values()]) else None


def _are_features(columns: list[Any]) -> bool:
    """Whether the first column names each row once, and the others hold numbers."""
    if len(columns) < 2 or not len(columns[0]) or len({*columns[0].tolist()}) < len(columns[0]):
        return False
    return all(is_number(cell) for column in columns[1:] for cell in column.tolist())


def is_number(cell: Any) -> bool:
    """Whether a cell of a table holds a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
