"""The way in: a file, several files, a folder or a table in memory, to feedback and what was understood of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from similitude.display.words import counted, in_short, listed
from similitude.feedback.columns import Categories
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files import tables
from similitude.feedback.files.cells import ItemRule
from similitude.feedback.files.layouts import UnknownLayout, read_table
from similitude.feedback.files.options import Options
from similitude.feedback.files.sources import FileSource, about_file, retold
from similitude.feedback.files.tables import Table
from similitude.feedback.files.tools import Export, Tool, tool_of
from similitude.feedback.files.understanding import Understood
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.base import Form
from similitude.feedback.spelling import folded


def understood(path: Any, options: Options) -> Understood:
    """Read whatever was given, and say what was understood; an error quotes no more of a cell than can be looked at."""
    try:
        return _understood(path, options)
    except (ValueError, TypeError) as error:
        if (short := in_short(str(error))) == str(error):
            raise
        raise retold(error, short) from None


def _understood(path: Any, options: Options) -> Understood:
    if hasattr(path, "columns"):
        return _of_export(Export(tables.of_frame(path)), "the table", None, None, options)
    if isinstance(path, (str, os.PathLike)):
        if not os.fspath(path):
            raise ValueError("path: found an empty text (is a variable not set?); expected a file or folder")
        where = Path(path)
        return _of_folder(where, options) if where.is_dir() else _of_file(where, options)
    if isinstance(path, Sequence) and path and all(isinstance(one, (str, os.PathLike)) for one in path):
        files = [Path(one) for one in path]
        return _of_file(files[0], options) if len(files) == 1 else _of_several(files, f"{len(files)} files", options)
    raise TypeError(f"path: expected a file, several files or a pandas table, found {type(path).__name__}")


def _of_folder(folder: Path, options: Options) -> Understood:
    """Read all files of a folder together, one per participant; what is no such file is said."""
    files, notes = _files(folder)
    try:
        found = _of_several(files, folder.absolute().name, options)
    except (ValueError, TypeError) as error:
        all_read = f"every file of the folder {str(folder)!r} is read: take out one that holds no answers, or give"
        raise retold(error, f"{error}; {all_read} those that do by name") from None
    return replace(found, notes=[*found.notes, *notes])


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """The files of answers in a folder, one per participant, and sentences about what else is there."""
    there = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    lost = [one for one in there if one.is_symlink() and not one.exists() and _promises_answers(one)]
    if lost:
        raise tables.absent(lost[0])
    files = [one for one in there if one.is_file()]
    readable = [one for one in files if _promises_answers(one)]
    if not readable:
        found = _called_in_folder(there) or "no file"
        raise ValueError(
            f"path: {str(folder)!r} is a folder; expected a file of answers per participant in it "
            f"({', '.join(tables.SUFFIXES)}), found {found}"
        )
    if any(one.suffix == ".parquet" for one in readable) and len(readable) == len(files):
        raise ValueError(
            f"path: {folder.name!r} is a folder; open it with ComparisonDataset where it holds Parquet files of "
            "comparisons, or give a folder with a file of answers per participant"
        )
    reasons = {
        "no answers are in files of such names": [one for one in files if one not in readable],
        "only files in the folder itself are": [one for one in there if one not in files],
    }
    return readable, [f"not read, since {why}: {_called_in_folder(them)}" for why, them in reasons.items() if them]


def _promises_answers(path: Path) -> bool:
    """Whether the name is that of a file that may hold answers."""
    return any(path.name.lower().endswith((end, f"{end}.gz")) for end in tables.SUFFIXES)


def _called_in_folder(paths: Sequence[Path]) -> str:
    """The names of some of what is in a folder, a folder's with a slash."""
    return listed((f"{one.name}/" if one.is_dir() else one.name for one in paths), len(paths))


def _of_file(path: Path, options: Options) -> Understood:
    """Read one file; every error names it."""
    if path.is_dir():
        raise ValueError(f"path: {path.name!r} is a folder; give its files, or the folder alone")
    try:
        source = FileSource.open(path, map(str, (options.columns or {}).values()))
    except FileNotFoundError:
        raise
    except (ValueError, TypeError) as error:
        raise about_file(error, path) from None
    try:
        tool = tool_of(source)
        export = _exported(tool, source) if tool is not None else Export(_table(source))
        export = replace(export, notes=[*(source.table.notes if source.table is not None else ()), *export.notes])
        written = source.written if source.kind in (".csv", ".tsv", ".txt") and not export.from_zero else None
        found = _of_export(
            export, path.name, tool.name if tool is not None else None, str(written or "") or None, options
        )
    except (ValueError, TypeError) as error:
        raise about_file(error, path) from None
    return found


def _exported(tool: Tool, source: FileSource) -> Export:
    """Read a tool's export; what it lacks is said."""
    try:
        return tool.read(source)
    except (KeyError, IndexError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise ValueError(
            f"it looks like an export of {tool.name}, but is damaged or of another kind: {type(error).__name__} {error}"
        ) from None


def _table(source: FileSource) -> Table:
    if source.table is None:
        raise ValueError("the JSON is no list of rows, and no tool is known that writes such; see the page on files")
    return source.table


def _of_export(export: Export, name: str, tool: str | None, written: str | None, options: Options) -> Understood:
    """Read a table, with what its tool says where the caller does not."""
    notes: list[str] = list(export.notes)
    items = replace(options.items, from_zero=options.items.from_zero or export.from_zero, notes=notes)
    bare = list(export.table.columns)[:1] == ["column 1"]
    asked = replace(
        options,
        items=items,
        form=options.form or (export.form if not options.columns else None),
        larger=options.larger or export.larger,
        notes=notes,
    )
    table = _with_bare_names(export.table, asked) if bare else export.table
    try:
        found = read_table(table, asked)
    except UnknownLayout as error:
        raise ValueError(export.otherwise if export.otherwise and not options.columns else str(error)) from None
    c = _over(found.comparisons, options.items)
    return Understood(c, name, tool, written, found.used, found.reasons, notes)


def _with_bare_names(table: Table, options: Options) -> Table:
    """Call the columns of a table without a header as rows of its form have them."""
    columns = [name for name in table.columns if name.startswith("column ")]
    if options.columns:
        return table
    usual = {3: "triplet", 4: "quadruplet"}.get(len(columns)) if options.items.from_zero else None
    form = options.form or usual
    if form is None:
        raise ValueError(
            f"the first line names no columns, so {len(columns)} cells a row may mean anything; give form= "
            "(odd_one_out: the odd one last), or columns={'odd': 'column 3', ...}"
        )
    names = dict(zip(columns, _columns_of(len(columns), form), strict=True))
    found = {names.get(name, name): cells for name, cells in table.columns.items()}
    return Table(found, table.header, table.typed, {names.get(name, name): name for name in table.columns})


def _of_several(files: Sequence[Path], name: str, options: Options) -> Understood:
    """Read several files together; where no column says who answered, the file is called so."""
    parts = _alike([_of_file(file, options) for file in files], files, options)
    names = {tuple(sorted(part.used.items())) for part in parts}
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    if len(names) > 1:
        notes.append(_difference(files, parts))
    called = [_by_file(part.comparisons, rater) for part, rater in zip(parts, _called(files), strict=True)]
    c = Comparisons.concatenate(_spelled_alike(called) if options.items.fold else called)
    tools = dict.fromkeys(part.tool for part in parts if part.tool)
    first = parts[0]
    unnamed = [
        file.name for part, file in zip(parts, files, strict=True) if not part.comparisons.answers.rater.recorded
    ]
    if unnamed:
        do = "does" if len(unnamed) == 1 else "do"
        notes.append(
            f"{len(unnamed):,} of {counted(len(files), 'file')} {do} not say who answered: the rater is called as the "
            "file"
        )
    return Understood(c, name, ", ".join(tools) or None, first.written, first.used, first.reasons, notes)


def _alike(parts: list[Understood], files: Sequence[Path], options: Options) -> list[Understood]:
    """The same files, where some know items by position and some by name: by what numbers are in all of them."""
    by_position = [part.comparisons for part in parts if part.comparisons.names is None]
    if len(by_position) in (0, len(parts)):
        return parts
    from_zero = any((c.answers.shown.values == 0).any() for c in by_position)
    rule = replace(options.items, from_zero=from_zero, labels=not from_zero)
    return [_of_file(file, replace(options, items=rule)) for file in files]


def _called(files: Sequence[Path]) -> list[str]:
    """What each file is called: without its ending where that will do, with the folders that tell it from others."""
    whole = [file.resolve() for file in files]
    for named in (tables.stem_of, str):
        for folders in range(max(len(path.parts) for path in whole)):
            names = ["/".join([*path.parts[-1 - folders : -1], named(path.name)]) for path in whole]
            if len(set(names)) == len(set(whole)):
                return names
    raise AssertionError("two files have one path")


def _by_file(c: Comparisons, rater: str) -> Comparisons:
    if c.answers.rater.recorded:
        return c
    return replace(c, answers=replace(c.answers, rater=Categories.of(rater, c.n_answers)))


def _spelled_alike(parts: Sequence[Comparisons]) -> list[Comparisons]:
    """The parts with one spelling for names that differ by case, spaces, accents or .0 alone: the commonest of all.

    Each file has joined its own names by now, so that none has two of a spelling.
    """
    count: Counter[str] = Counter()
    for c in parts:
        shown = np.bincount(c.answers.shown.values, minlength=c.n_items)
        count.update(dict(zip(c.names or (), shown.tolist(), strict=False)))
    rising = sorted(sorted(count, reverse=True), key=count.__getitem__)
    spelling = {folded(name): name for name in rising}  # the last of a spelling stays
    return [
        c if c.names is None else replace(c, names=tuple(spelling[folded(name)] for name in c.names)) for c in parts
    ]


def _difference(files: Sequence[Path], parts: Sequence[Understood]) -> str:
    """A sentence about the first file whose columns differ from those of the first."""
    usual = set(parts[0].used.values())
    for file, part in zip(files, parts, strict=True):
        other = set(part.used.values())
        if other != usual:
            lacks, has = ", ".join(sorted(usual - other)), ", ".join(sorted(other - usual))
            found = " and ".join(text for text in (lacks and f"lacks {lacks}", has and f"has {has}") if text)
            return f"columns differ: {file.name} {found} (beside {files[0].name})"
    return "columns differ between the files"


def _columns_of(width: int, form: str) -> tuple[str, ...]:
    """The columns that rows of items without a header would have."""
    known = {name: _bare(one) for name, one in FORMS.items() if _bare(one)}
    columns = known.get(form)
    if columns is None or len(columns) != width:
        rows = ", ".join(f"{name} ({len(row)} items a row)" for name, row in known.items())
        raise ValueError(f"form: rows of {width} items are no {form}; expected {rows}")
    return columns


def _bare(form: Form) -> tuple[str, ...]:
    of_items = [columns for columns in form.columns if columns.how in ("items", "judged")]
    return tuple(names[0] for names in of_items[-1].names) if of_items else ()


def _over(comparisons: Comparisons, items: ItemRule) -> Comparisons:
    """Return the comparisons over the items that the caller gave, where the file has items of its own."""
    if items.names is not None and not items.fold:
        same = comparisons.names == tuple(items.names)
        return comparisons if same else comparisons.with_items(items.names)
    return (
        comparisons if items.n_items in (None, comparisons.n_items) else comparisons.with_items(n_items=items.n_items)
    )
