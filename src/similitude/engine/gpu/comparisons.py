"""Comparisons on a device: sorted by head, cut into segments of one head, kept there or streamed to it.

What does not fit on the device stays in the memory of the host, sorted, and is copied at every pass; what does not fit
there either stays in its folder, and is read, copied and sorted at every pass.

It stands in for a `SimilarityGraph` where positions are learned: the same counts, none of the pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from similitude.engine.gpu.memory import device_room, host_room
from similitude.graph.counts import Counts
from similitude.types import Array, Ints

_LONGEST = 512  # comparisons of a segment: a head that everybody is asked about is shared between programs
_ROWS_PER_PART = 1 << 28
_MOST_BYTES = 36  # of a comparison: three items, a weight, and a segment of its own; a sorted triplet takes 8

_PER_ROW = ("near", "far_second", "far_first", "weight")

Chunk = tuple[Array, Array, Array | None]
"""Near pairs, far pairs (each two columns) and weights, None where all are 1."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some comparisons, by segments.

    Attributes
    ----------
    head : (s,) the item that the near pairs of each segment begin with
    start, stop : (s,) first row of each segment, and the row after its last
    near, far_second : (m,) the other items; far_first where a far pair does not begin with the head
    weight : (m,) None where all count the same
    """

    head: torch.Tensor
    start: torch.Tensor
    stop: torch.Tensor
    near: torch.Tensor
    far_second: torch.Tensor
    far_first: torch.Tensor | None
    weight: torch.Tensor | None

    def __len__(self) -> int:
        return len(self.near)

    def items(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """The four items of each comparison, near pair and far pair."""
        heads = self.head.repeat_interleave(self.stop - self.start)
        return heads, self.near, heads if self.far_first is None else self.far_first, self.far_second

    def alone(self) -> Part:
        """The same segments with columns that hold their rows and no others."""
        length = self.stop - self.start
        end = torch.cumsum(length, 0)
        rows = torch.arange(int(length.sum()), device=self.near.device)
        rows += (self.start - (end - length)).repeat_interleave(length)
        columns = {name: column[rows] for name, column in self._columns().items() if name in _PER_ROW}
        return replace(self, start=end - length, stop=end, **columns)

    def segments(self, chosen: torch.Tensor) -> Part:
        """The comparisons of some segments; the columns are shared."""
        return replace(self, head=self.head[chosen], start=self.start[chosen], stop=self.stop[chosen])

    @property
    def total_weight(self) -> float | torch.Tensor:
        """Sum of the weights of its comparisons."""
        if self.weight is None:
            return (self.stop - self.start).sum()
        return self.alone().weight.sum(dtype=torch.float64)  # type: ignore[union-attr]

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        return sum(column.nbytes for column in self._columns().values())

    def to(self, device: torch.device) -> Part:
        """The same on another device; from pinned memory the copy goes on beside other work."""
        moved = {name: column.to(device, non_blocking=True) for name, column in self._columns().items()}
        return replace(self, **moved)

    def pinned(self) -> Part:
        """The same in memory of the host that a device can read from directly; there already where that is the CPU."""
        there = self._columns() if self.near.device.type == "cuda" else {}
        return replace(self, **{name: column.cpu().pin_memory() for name, column in there.items()})

    def _columns(self) -> dict[str, torch.Tensor]:
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in found.items() if column is not None}


class Source(Protocol):
    """Where comparisons can be read again and again."""

    def chunks(self, first: int) -> Iterator[Chunk]:
        """Give the chunks from one of them on."""

    def counts(self) -> Counts:
        """Count everything in one pass."""


class DeviceComparisons:
    """Comparisons for learning positions on a device.

    Parameters
    ----------
    chunks : the comparisons, in pieces of any size
    n_items : number of items
    device : where to keep them; what does not fit stays with the host and is copied at every pass
    source : where the same chunks can be read again: what the host cannot keep is then read at every pass

    Attributes
    ----------
    from_disk : number of the first chunk that is read at every pass; None where none is
    """

    def __init__(
        self, chunks: Iterable[Chunk], n_items: int, device: torch.device, source: Source | None = None
    ) -> None:
        self.n_items, self.device, self._source = n_items, device, source
        self._parts: list[Part] = []
        self.from_disk: int | None = None
        here, with_host = device_room(device), float("inf") if source is None else host_room()
        for number, chunk in enumerate(chunks):
            if max(here, with_host) < _MOST_BYTES * len(chunk[0]):
                self.from_disk = number
                break
            for part in self._built([chunk]):
                stays = part.bytes < here
                here, with_host = (here - part.bytes, with_host) if stays else (here, with_host - part.bytes)
                self._parts.append(part if stays else part.pinned())

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts) if self.from_disk is None else self._counts.comparisons

    def parts(self) -> Iterator[Part]:
        """The comparisons on the device, part by part; the next are read from disk while one is at work."""
        for part in self._parts:
            yield part if part.near.device == self.device else part.to(self.device)
        if self.from_disk is not None and self._source is not None:
            yield from self._built(self._source.chunks(self.from_disk))

    def _built(self, chunks: Iterable[Chunk]) -> Iterator[Part]:
        for near, far, weight in _pieces(chunks):  # of no rows there are no pieces
            yield build_part(_moved(near, self.device), _moved(far, self.device), _moved(weight, self.device))

    @cached_property
    def _counts(self) -> Counts:
        """What one pass over everything counts, which is quicker than several of parts that are read from disk."""
        assert self._source is not None
        return self._source.counts()

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        if self.from_disk is not None:
            return self._counts.weight
        return sum(float(part.total_weight) for part in self._parts)

    @cached_property
    def occurrences(self) -> npt.NDArray[np.int64]:
        """How many comparisons' pairs each item stands in."""
        if self.from_disk is not None:
            return self._counts.occurrences
        count = torch.zeros(self.n_items, dtype=torch.int64, device=self.device)
        for part in self.parts():
            for column in part.items():
                count += torch.bincount(column, minlength=self.n_items)
        return np.asarray(count.cpu().numpy(), np.int64)

    def votes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """For each item the weight of the pairs that it stands in: all of them, and near ones less far ones."""
        total, balance = (torch.zeros(self.n_items, dtype=torch.float64, device=self.device) for _ in range(2))
        for part in self.parts():
            weight = None if part.weight is None else part.weight.double()
            for column, sign in zip(part.items(), (1, 1, -1, -1), strict=True):
                count = torch.bincount(column, weight, minlength=self.n_items)
                total += count
                balance += sign * count
        return total, balance

    @cached_property
    def components(self) -> Ints:
        """Connected component of each item, items being linked by the pairs compared; -1 for an item never compared."""
        if self.from_disk is not None:
            return self._counts.components
        label = torch.arange(self.n_items, device=self.device)
        while True:
            before = label.clone()
            for part in self.parts():
                i, j, k, l = (column.long() for column in part.items())
                for one, other in ((i, j), (k, l)):
                    low = torch.minimum(label[one], label[other])
                    label.scatter_reduce_(0, one, low, "amin").scatter_reduce_(0, other, low, "amin")
            label = label[label]
            if torch.equal(before, label):
                break
        found = label.cpu().numpy()
        found[self.occurrences == 0] = -1
        return np.unique(found, return_inverse=True)[1].astype(np.int32) - int((found < 0).any())


def build_part(near: torch.Tensor, far: torch.Tensor, weight: torch.Tensor | None) -> Part:
    """Sort comparisons by the head and cut them into segments."""
    head, order = torch.sort(near[:, 0])
    triplets = bool((near[:, 0] == far[:, 0]).all())
    items, counts = torch.unique_consecutive(head, return_counts=True)
    segments = (counts + _LONGEST - 1) // _LONGEST
    item = items.repeat_interleave(segments)
    first_row = torch.cumsum(counts, 0) - counts
    first_segment = torch.cumsum(segments, 0) - segments
    within = torch.arange(len(item), device=near.device) - first_segment.repeat_interleave(segments)
    start = first_row.repeat_interleave(segments) + _LONGEST * within
    last = (first_row + counts).repeat_interleave(segments)
    return Part(
        item.to(torch.int32),
        start,
        torch.minimum(start + _LONGEST, last),
        near[order, 1],
        far[order, 1],
        None if triplets else far[order, 0],
        None if weight is None else weight[order],
    )


def _pieces(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks of at most so many rows, so that sorting one leaves room for the others."""
    for near, far, weight in chunks:
        for first in range(0, len(near), _ROWS_PER_PART):
            rows = slice(first, first + _ROWS_PER_PART)
            yield near[rows], far[rows], None if weight is None else weight[rows]


def _moved(column: Array | torch.Tensor | None, device: torch.device) -> torch.Tensor | None:
    if column is None:
        return None
    with warnings.catch_warnings():  # torch warns of memory that it must not write to; it is only read
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        tensor = torch.as_tensor(column)
    return tensor.to(device, torch.float32 if tensor.is_floating_point() else torch.int32)
