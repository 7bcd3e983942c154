"""Shards on the workers of a Dask cluster: they stay where they are, and only positions and sums travel."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from similitude.engine.threads import limit_threads
from similitude.extras import need
from similitude.feedback.checks import check_shown, check_weight, head_first
from similitude.feedback.files.dataset import LAYOUTS, ComparisonDataset, read_pieces
from similitude.feedback.items import as_integers, check_names
from similitude.feedback.shards import Block, Shards, folded_groups

T = TypeVar("T")


class Partitions(Shards):
    """Comparisons in shards on the workers of a cluster, made by `spread`.

    A shard is read by the worker that keeps it. When a worker is lost, the scheduler has its shards read again
    elsewhere, and the tasks of a step that were under way run again: the result has the same bits, only later.

    Attributes
    ----------
    client : the cluster's client
    n_items, names, sizes : as in `ComparisonDataset`
    """

    def __init__(
        self, client: Any, blocks: Sequence[Any], sizes: Sequence[int], n_items: int, names: Sequence[str] | None
    ) -> None:
        self.client = client
        self.blocks = list(blocks)
        self.sizes = tuple(sizes)
        self.n_items = n_items
        self.names = check_names(names)

    def reduce(self, work: Callable[..., T], combine: Callable[[T, T], T], *arguments: Any) -> T:
        """Return the results of `work` of every shard, combined on the workers in the order of `fold`."""
        client, run = self.client, uuid.uuid4().hex
        sent = [_sent(client, argument, f"similitude-sent-{run}-{k}") for k, argument in enumerate(arguments)]
        level = [
            client.submit(_work, work, block, *sent, key=f"similitude-work-{run}-{k}", pure=False)
            for k, block in enumerate(self.blocks)
        ]
        depth = 0
        while len(level) > 1:
            level = [
                client.submit(_combine, combine, group, key=f"similitude-sum-{run}-{depth}-{k}", pure=False)
                for k, group in enumerate(folded_groups(level))
            ]
            depth += 1
        result: T = level[0].result()
        return result


def spread(
    source: Any, *, client: Any = None, n_items: int | None = None, names: Sequence[str] | None = None
) -> Partitions:
    """Put comparisons on the workers of a Dask cluster; fit, check and score what it returns as any dataset.

    Needs the extra `distributed`, and for a folder the extra `parquet`.

    Parameters
    ----------
    source : a `ComparisonDataset` or its folder, which every worker must see under the same path; or a dask DataFrame
        with whole numbers in columns `head, near, far`, or `near_a, near_b, far_a, far_b`, or `i, j, k` (, `l`), and
        perhaps `weight`: its partitions are the shards
    client : a `distributed.Client`; by default the one in use
    n_items, names : for a DataFrame, the items, where they are more than it shows or have names

    Returns
    -------
    Partitions
        The same shards, combined in the same order: a fit gives the same bits as one of the folder in one process.

    Examples
    --------
    >>> import tempfile, similitude as sm
    >>> from distributed import Client
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 500, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=None) as client:
    ...     sm.write_comparisons(c, f"{folder}/answers")
    ...     parts = sm.spread(f"{folder}/answers", client=client)
    ...     sm.STE(1, random_state=0).fit(parts).embedding_.shape
    (4, 1)
    """
    client = client or _client()
    if isinstance(source, (str, os.PathLike)):
        source = ComparisonDataset(source)
    if isinstance(source, ComparisonDataset):
        if n_items is not None or names is not None:
            raise ValueError("n_items, names: the folder knows its items; leave them out")
        plans = [source.pieces(shard) for shard in source.shards]
        blocks = [client.submit(read_pieces, plan, source.n_items, k, pure=False) for k, plan in enumerate(plans)]
        return Partitions(client, blocks, source.sizes, source.n_items, source.names)
    if not hasattr(source, "to_delayed"):
        found = type(source).__name__
        raise TypeError(f"source: expected a ComparisonDataset, a folder or a dask DataFrame, found {found}")
    return _spread_frame(client, source, n_items, names)


def _spread_frame(client: Any, frame: Any, n_items: int | None, names: Sequence[str] | None) -> Partitions:
    layout = next((layout for layout in LAYOUTS if set(layout) <= set(frame.columns)), None)
    if layout is None:
        known = "; ".join(", ".join(layout) for layout in LAYOUTS)
        raise ValueError(f"source: expected columns {known}; found {', '.join(map(str, frame.columns))}")
    count = len(names) if names is not None else n_items or int(frame[list(layout)].max().max().compute()) + 1
    parts = client.compute(frame.to_delayed())
    blocks = [client.submit(block_of_frame, part, layout, count, k, pure=False) for k, part in enumerate(parts)]
    return Partitions(client, blocks, client.gather(client.map(len, blocks, pure=False)), count, names)


def block_of_frame(frame: Any, layout: Sequence[str], n_items: int, number: int) -> Block:
    """Return a pandas table of comparisons as a block."""
    codes = np.stack([as_integers(frame[name].to_numpy(), name) for name in layout], 1)
    check_shown(codes, n_items)
    pairs = codes if len(layout) == 4 else codes[:, [0, 1, 0, 2]]
    near, far = head_first(pairs[:, :2], pairs[:, 2:])
    weight = np.array(check_weight(frame["weight"].to_numpy() if "weight" in frame else None, len(frame)))
    return Block(near, far, weight, n_items, number)


def _client() -> Any:
    need("distributed", "a cluster")
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError("client: there is none in use; make one with distributed.Client(...)") from None


def _sent(client: Any, argument: Any, key: str) -> Any:
    """Send an array once, as a task that can be done again if the worker that holds it is lost.

    Scattered data could not be made again, and a broadcast waits for a lost worker. Dask warns of large tasks, since
    they are a mistake elsewhere.
    """
    import dask

    if not isinstance(argument, np.ndarray):
        return argument
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        return client.submit(_same, argument, key=key, pure=False)


def _same(argument: T) -> T:
    return argument


def _work(work: Callable[..., T], block: Block, *arguments: Any) -> T:
    owned = [np.require(a, requirements="W") if isinstance(a, np.ndarray) else a for a in arguments]
    with limit_threads(1):  # a worker runs as many tasks at once as it has threads
        return work(_own(block), *owned)


def _own(block: Block) -> Block:
    """Return a block that may be written to: what comes from another worker is read-only, another type to kernels."""
    near, far = np.require(block.near, requirements="W"), np.require(block.far, requirements="W")
    return replace(block, near=near, far=far, weight=np.require(block.weight, requirements="W"))


def _combine(combine: Callable[[T, T], T], group: Sequence[T]) -> T:
    total = group[0]
    for result in group[1:]:
        total = combine(total, result)
    return total
