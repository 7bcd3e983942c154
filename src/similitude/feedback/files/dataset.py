"""Comparisons larger than memory: a folder of Parquet files, read shard by shard.

A folder that `ComparisonWriter` wrote holds `about.json` (format, number of comparisons, items by name or their number)
and files `part-00000.parquet`, ... with 32-bit columns `head, near, far` where all comparisons of the file have a head,
else `near_a, near_b, far_a, far_b`; and `weight` where they do not all weigh 1. A folder that others wrote needs no
`about.json`: items are then positions. Whole answers (`ComparisonWriter(whole=True)`) stand in files of one form and
size each, with columns `shown_0, ...` and `said_0, ...`; their comparisons are derived as they are read.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from similitude.feedback.checks import check_shown, check_weight, head_first
from similitude.feedback.files.tables import pyarrow
from similitude.feedback.items import Names, as_integers
from similitude.feedback.shards import Block, Shards, fold
from similitude.feedback.whole_shards import AnswerKind, WholeAnswers
from similitude.types import Array

T = TypeVar("T")
K = TypeVar("K")

FORMAT = 1  # of comparisons alone
WHOLE_FORMAT = 2
ABOUT = "about.json"
TRIPLET = ("head", "near", "far")
QUADRUPLET = ("near_a", "near_b", "far_a", "far_b")
LAYOUTS = (QUADRUPLET, TRIPLET, ("i", "j", "k", "l"), ("i", "j", "k"))
_LEAST_ROWS = 1 << 20
_MOST_ROWS = 1 << 22  # of a shard: 150 MB in memory
_ROWS_PER_ITEM = 16  # a shard should outweigh the gradient that it gives

Group = tuple[int, int, int]
"""A row group: number of its file, its number there, and how many comparisons it gives."""


Layout = tuple[tuple[str, ...], bool, AnswerKind | None]
"""Columns of a file, whether there are weights, and what answers it holds where they are whole."""


class ComparisonDataset(Shards):
    """Comparisons in a folder of Parquet files, which need not fit in memory. Needs the extra `parquet`.

    `fit` of the embedding methods and of `ComparisonKernel`, `check` and `score` take it where they take `Comparisons`.
    It holds comparisons, or whole answers where it was written so; who answered, and how, stays in files of answers.

    Parameters
    ----------
    path : the folder: what `ComparisonWriter` or `write_comparisons` wrote, or any Parquet files with whole numbers in
        columns `head, near, far`, or `near_a, near_b, far_a, far_b`, or `i, j, k` (, `l`), and perhaps `weight`
    n_items : number of items, where the folder does not say and it is more than the comparisons show
    shard_rows : least number of comparisons in a shard, which is a few row groups; by default 2^20, or sixteen times as
        many as there are items where that is more, up to 2^22: so a shard outweighs its gradient

    Attributes
    ----------
    n_items, names : the items
    sizes : number of comparisons in each shard

    Examples
    --------
    >>> import tempfile, similitude as sm
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 500, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.write_comparisons(c, f"{folder}/answers")
    ...     dataset = sm.ComparisonDataset(f"{folder}/answers")
    ...     print(dataset, sm.STE(1, random_state=0).fit(dataset).embedding_.shape)
    <500 comparisons about 4 items in 1 shard> (4, 1)
    """

    def __init__(
        self, path: str | os.PathLike[str], n_items: int | None = None, *, shard_rows: int | None = None
    ) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise FileNotFoundError(f"path: there is no folder {str(path)!r}; give a folder of Parquet files")
        about = self._about()
        self.files = sorted(self.path.absolute().glob("*.parquet"))  # the workers of a cluster may be elsewhere
        self._columns, self.groups, largest = self._survey(known=about is not None)
        if not self.groups:
            raise ValueError(
                f"path: the folder {self.path.name!r} holds no comparisons; expected rows in .parquet files"
            )
        self.names, self.n_items = _items(about["items"] if about is not None else largest + 1, n_items)
        self.cleaned = about is not None and bool(about.get("cleaned"))
        if shard_rows is not None and shard_rows < 1:
            raise ValueError(f"shard_rows: expected a positive number of comparisons, found {shard_rows}")
        self.shard_rows = shard_rows or min(max(_LEAST_ROWS, _ROWS_PER_ITEM * self.n_items), _MOST_ROWS)
        self.shards = _shards(self.groups, self.shard_rows)
        self.sizes = tuple(sum(self.groups[g][2] for g in shard) for shard in self.shards)
        if about is not None and about["comparisons"] != len(self):
            raise ValueError(
                f"{self.path.name}: expected {about['comparisons']} comparisons, found {len(self)}; files are missing"
            )

    def reduce(self, work: Callable[..., T], combine: Callable[[T, T], T], *arguments: Any) -> T:
        """Return the results of `work(block, *arguments)` of every shard, combined, reading one ahead."""
        return fold((work(block, *arguments) for block in self.blocks()), combine)

    def blocks(self) -> Iterator[Block]:
        """Give the shards in order, reading one ahead."""
        return read_ahead(self.read, range(self.n_shards))

    def read(self, shard: int) -> Block:
        """Read a shard."""
        return read_pieces(self.pieces(self.shards[shard]), self.n_items, shard)

    def mixed(self, rng: np.random.Generator) -> Iterator[Block]:
        """Give all comparisons once, in blocks of row groups that were drawn at random, reading one ahead."""
        order = rng.permutation(len(self.groups))
        parts = _shards([self.groups[g] for g in order], self.shard_rows)
        plans = (self.pieces([order[k] for k in part]) for part in parts)
        return read_ahead(lambda pieces: read_pieces(pieces, self.n_items, 0), plans)

    def pieces(self, groups: Sequence[int]) -> list[RowGroups]:
        """Return what to read for some row groups, file by file: all that another process needs to know."""
        files = dict.fromkeys(self.groups[g][0] for g in groups)
        inside = {file: [self.groups[g] for g in groups if self.groups[g][0] == file] for file in files}
        return [
            RowGroups(self.files[file], *self._columns[file], [g for _, g, _ in own], sum(rows for *_, rows in own))
            for file, own in inside.items()
        ]

    def _about(self) -> dict[str, Any] | None:
        file = self.path / ABOUT
        if not file.exists():
            return None
        try:
            about: dict[str, Any] = json.loads(file.read_text("utf-8"))
            version, _, _ = about["format"], about["items"], about["comparisons"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{ABOUT}: the file is cut off or not ours; expected format, items, comparisons") from None
        if not isinstance(version, (int, float)) or version > WHOLE_FORMAT:
            raise ValueError(
                f"format: the folder has format {version!r}, this similitude reads up to {WHOLE_FORMAT}; update it"
            )
        return about

    def _survey(self, known: bool) -> tuple[list[Layout], list[Group], int]:
        """Return the layout of each file; all row groups; the largest item."""
        pa, pq = pyarrow()
        columns: list[Layout] = []
        groups: list[Group] = []
        largest = -1
        for k, file in enumerate(self.files):
            try:
                metadata = pq.read_metadata(file)
            except pa.ArrowInvalid as error:
                raise ValueError(f"{file.name}: the Parquet file is cut off or damaged ({error})") from None
            kind = AnswerKind.of_metadata(metadata.metadata, file.name)
            columns.append(_layout(file.name, metadata.schema.names, kind))
            sizes = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
            if max(sizes, default=0) > 4 * _MOST_ROWS:
                raise ValueError(
                    f"{file.name}: a row group has {max(sizes):,} rows, expected at most {4 * _MOST_ROWS:,}, since one "
                    "must fit in memory; write the files anew with smaller row groups"
                )
            each = 1 if kind is None else kind.comparisons_each
            groups.extend((k, g, each * size) for g, size in enumerate(sizes) if size)
            if not known:
                largest = max(largest, _largest(file, metadata, columns[-1][0][: None if kind is None else kind.shown]))
        return columns, groups, largest


@dataclass(frozen=True)
class RowGroups:
    """Row groups of one file: its columns, weights and answers (`Layout`), the groups, and how many comparisons."""

    path: Path
    items: tuple[str, ...]
    weighted: bool
    kind: AnswerKind | None
    groups: list[int]
    rows: int

    def answers(self, n_items: int) -> WholeAnswers:
        """Read whole answers."""
        assert self.kind is not None
        columns = self.read()
        width, count = self.kind.shown, len(columns[0])
        shown = np.stack(columns[:width], axis=1)
        check_shown(shown, n_items)
        said = np.array(columns[width : len(self.items)], np.int32).reshape(-1, count).T
        weight = check_weight(columns[-1] if self.weighted else None, count)
        return WholeAnswers(self.kind, shown, said, weight)

    def read(self) -> list[Array]:
        """Read the columns."""
        _, pq = pyarrow()
        names = [*self.items, "weight"] if self.weighted else [*self.items]
        with pq.ParquetFile(self.path, pre_buffer=False) as reader:
            table = reader.read_row_groups(self.groups, columns=names, use_threads=False)
        found = [table.column(name) for name in names]
        if any(column.null_count for column in found):
            raise ValueError(f"{self.path.name}: a cell is empty; expected an item in every cell")
        items = [as_integers(column.to_numpy(), name) for name, column in zip(self.items, found, strict=False)]
        return [*items, found[-1].to_numpy()] if self.weighted else items


def read_pieces(pieces: Sequence[RowGroups], n_items: int, number: int) -> Block:
    """Read row groups into one block."""
    rows = sum(piece.rows for piece in pieces)
    near, far = np.empty((rows, 2), np.int32), np.empty((rows, 2), np.int32)
    weight, start = np.ones(rows), 0
    whole = [piece.answers(n_items) for piece in pieces if piece.kind is not None]
    for piece in (one for one in pieces if one.kind is None):
        columns, stop = piece.read(), start + piece.rows
        for column, places in zip(columns, _places(len(piece.items)), strict=False):
            check_shown(column, n_items)
            for pair, side in places:
                (near, far)[pair][start:stop, side] = column
        if piece.weighted:
            weight[start:stop] = check_weight(columns[-1], piece.rows)
        start = stop
    for one in whole:
        near_pairs, far_pairs, row = one.edges()
        stop = start + len(row)
        near[start:stop], far[start:stop], weight[start:stop] = near_pairs, far_pairs, one.weight[row]
        start = stop
    return Block(*head_first(near, far), weight, n_items, number, tuple(whole))


def read_ahead(read: Callable[[K], T], keys: Iterable[K], ahead: int = 1) -> Iterator[T]:
    """Give `read(key)` for each key, the next ones being read while one is in use, each on a thread of its own."""
    with ThreadPoolExecutor(ahead, thread_name_prefix="similitude-read") as pool:
        waiting: deque[Any] = deque()
        for key in keys:
            waiting.append(pool.submit(read, key))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _shards(groups: Sequence[Group], wanted: int) -> list[tuple[int, ...]]:
    """Join consecutive row groups into shards of at least so many rows, but for the last."""
    shards: list[tuple[int, ...]] = []
    part: list[int] = []
    rows = 0
    for g, (_, _, size) in enumerate(groups):
        part.append(g)
        rows += size
        if rows >= wanted:
            shards.append(tuple(part))
            part, rows = [], 0
    return [*shards, tuple(part)] if part else shards


def _items(found: list[str] | int, n_items: int | None) -> tuple[Names | None, int]:
    """Return the names, where there are any, and the number of items: what the folder says, or more positions."""
    names = tuple(found) if isinstance(found, list) else None
    count = len(found) if isinstance(found, list) else found
    wanted = count if n_items is None else n_items
    if wanted < count or (names is not None and wanted != count):
        raise ValueError(f"n_items: {n_items} was given, but the folder is about {count} items")
    if wanted > np.iinfo(np.int32).max:
        raise ValueError(f"n_items: items are numbered in 32 bits, so at most {np.iinfo(np.int32).max}, found {wanted}")
    return names, wanted


def _layout(file: str, names: Sequence[str], kind: AnswerKind | None) -> Layout:
    if kind is not None:
        missing = sorted(set(kind.columns) - set(names))
        if missing:
            raise ValueError(f"{file}: expected columns {', '.join(kind.columns)}; {', '.join(missing)} is missing")
        return kind.columns, "weight" in names, kind
    layout = next((layout for layout in LAYOUTS if set(layout) <= set(names)), None)
    if layout is None:
        known = "; ".join(", ".join(layout) for layout in LAYOUTS)
        raise ValueError(f"{file}: expected columns {known}; found {', '.join(names)}")
    return layout, "weight" in names, None


def _places(width: int) -> list[list[tuple[int, int]]]:
    """Return where each column stands: 0 for near and 1 for far, and the side."""
    if width == 3:
        return [[(0, 0), (1, 0)], [(0, 1)], [(1, 1)]]
    return [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)]]


def _largest(file: Path, metadata: Any, items: Sequence[str]) -> int:
    """Return the largest item of a file, from its statistics; read where there are none."""
    _, pq = pyarrow()
    position = {metadata.schema.column(c).path: c for c in range(len(metadata.schema.names))}
    largest = -1
    for g in range(metadata.num_row_groups):
        for name in items:
            found = metadata.row_group(g).column(position[name])
            if found.physical_type not in ("INT32", "INT64"):
                raise TypeError(
                    f"{file.name}: expected whole numbers in column {name!r}, found {found.physical_type}; write items "
                    "by name with ComparisonWriter, which numbers them"
                )
            if found.statistics is not None and found.statistics.has_min_max:
                largest = max(largest, int(found.statistics.max))
            else:
                with pq.ParquetFile(file) as reader:
                    column = reader.read_row_group(g, columns=[name]).column(name).to_numpy()
                largest = max(largest, int(column.max(initial=-1)))
    return largest
