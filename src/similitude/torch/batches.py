"""What was said, in batches for an encoder: each holds its items once, and where they stand in what was said of them.

There are no labels here: a batch of comparisons says itself which item is the positive of which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler, default_collate

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.links import Links
from similitude.feedback.ratings import Ratings
from similitude.feedback.whole_answers import choices_of
from similitude.types import Array

Feedback = ComparisonsLike | Links | Ratings


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of feedback over the items that stand in them.

    Attributes
    ----------
    items : (k,) the distinct items, in the order in which their vectors are expected; None where places are those of
        any vectors at hand
    places : (m, 4) where the items of each comparison (near i, j, far k, l) stand among `items`; (m, 2) for pairs; for
        choices the pairs that speak for each alternative, one after the other, those of the chosen ones first
    weight : (m,) how much each row counts
    rater : (m,) the number of who said it, -1 where nobody knows
    value : (m,) 1 for similar and 0 for dissimilar links, larger for more different ratings; None for comparisons
    inputs : what the encoder takes for `items`, where the dataset was given inputs
    choice : for choices how many alternatives there are, how many are picked, and whether pairs speak for theirs by
        being near (-1) or far apart (1); else None
    """

    items: torch.Tensor | None
    places: torch.Tensor
    weight: torch.Tensor
    rater: torch.Tensor
    value: torch.Tensor | None = None
    inputs: Any = None
    choice: tuple[int, int, float] | None = None

    @classmethod
    def of(cls, rows: Any) -> Batch:
        """Make a batch of rows of places alone: (m, 3) head, near, far, or (m, 4); a batch stays as it is."""
        if isinstance(rows, Batch):
            return rows
        places = torch.as_tensor(rows)
        if places.ndim != 2 or places.shape[1] not in (3, 4) or places.is_floating_point():
            raise ValueError(
                f"batch: expected a Batch, or rows of 3 or 4 places of items as whole numbers, found "
                f"{places.dtype} of shape {tuple(places.shape)}"
            )
        if places.shape[1] == 3:
            places = places[:, [0, 1, 0, 2]]
        places = places.long()
        return cls(None, places, torch.ones_like(places[:, 0], dtype=torch.float32), torch.full_like(places[:, 0], -1))

    def __len__(self) -> int:
        return len(self.places)

    @property
    def pairs(self) -> torch.Tensor:
        """(2m, 2) near pairs and then far ones; (m, 2) where rows are pairs; of choices all first ones first."""
        return torch.cat(self.places.split(2, dim=1))

    @property
    def triplets(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Places of heads, near and far items: `indices_tuple` of pytorch-metric-learning, instead of labels."""
        if self.places.shape[1] != 4 or bool((self.places[:, 0] != self.places[:, 2]).any()):
            raise ValueError("triplets: expected comparisons with a head each; use the pairs of this batch instead")
        head, near, _, far = self.places.T
        return head, near, far

    def to(self, device: Any) -> Batch:
        """Return the batch on another device; inputs that are no tensor stay where they are."""
        moved = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: one.to(device) for name, one in moved.items() if isinstance(one, torch.Tensor)})


class FeedbackDataset(Dataset):  # type: ignore[type-arg, unused-ignore]
    """Comparisons, links or ratings as a dataset of PyTorch's: `dataset[rows]` is a `Batch`.

    Parameters
    ----------
    feedback : `Comparisons` (or an array of rows of three or four items), `Links` or `Ratings`
    inputs : what the encoder takes, one per item: a tensor, or anything that has `inputs[item]` (a list of texts, a
        dataset of pictures); batches then hold them
    collate : puts a list of inputs together; by default as PyTorch does
    whole : whether answers stay whole: rows are then choices, for `PickedLoss`, all of one form and size
    """

    def __init__(
        self,
        feedback: Feedback,
        inputs: Any = None,
        collate: Callable[[list[Any]], Any] = default_collate,
        whole: bool = False,
    ) -> None:
        self.feedback = feedback if isinstance(feedback, Links | Ratings) else as_comparisons(feedback)
        self.inputs, self.collate, self.whole = inputs, collate, whole
        self._choice = None
        if whole:
            self._rows, self._weight, self._rater, self._choice = _whole(self.feedback)
            self._value = None
        else:
            self._rows, self._rater, self._value = _columns(self.feedback)
            self._weight = self.feedback.weight
        if inputs is not None and hasattr(inputs, "__len__") and len(inputs) < self.feedback.n_items:
            raise ValueError(f"inputs: expected one for each of {self.feedback.n_items} items, found {len(inputs)}")

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: Any) -> Batch:
        """Some rows, by number, slice or list."""
        return self.__getitems__(np.atleast_1d(np.arange(len(self))[rows]))

    def __getitems__(self, rows: Sequence[int] | Array) -> Batch:
        """Several rows at once, as a `DataLoader` asks for them."""
        chosen = np.asarray(rows)
        said = self._rows[chosen]
        items, places = np.unique(said, return_inverse=True)
        return Batch(
            torch.from_numpy(items).long(),
            torch.from_numpy(places.reshape(said.shape)).long(),
            torch.from_numpy(np.array(self._weight[chosen], np.float32)),
            torch.from_numpy(self._rater[chosen]).long(),
            None if self._value is None else torch.from_numpy(np.array(self._value[chosen], np.float32)),
            self._inputs_of(items),
            self._choice,
        )

    def _inputs_of(self, items: Array) -> Any:
        if self.inputs is None:
            return None
        if isinstance(self.inputs, torch.Tensor):
            return self.inputs[torch.from_numpy(items).long()]
        return self.collate([self.inputs[int(item)] for item in items])


class TripletDataset(Dataset):  # type: ignore[type-arg, unused-ignore]
    """Triplets as the losses of other libraries take them: `dataset[row]` is (head, near, far).

    Parameters
    ----------
    comparisons : comparisons with a head each
    inputs : what the encoder takes, `inputs[item]` for each item; by default triplets are of item numbers
    """

    def __init__(self, comparisons: ComparisonsLike, inputs: Any = None) -> None:
        self.triplets = as_comparisons(comparisons).triplets
        self.inputs = inputs

    def __len__(self) -> int:
        return len(self.triplets)

    def __getitem__(self, row: int) -> tuple[Any, Any, Any]:
        """Anchor, positive and negative, as other libraries call them."""
        head, near, far = self.triplets[row].tolist()
        return (head, near, far) if self.inputs is None else tuple(self.inputs[k] for k in (head, near, far))


class HeadSampler(Sampler):  # type: ignore[type-arg, unused-ignore]
    """Rows in a random order of their heads, those of a head together: their batches hold fewer items to encode.

    Parameters
    ----------
    dataset : comparisons
    seed : of the order, which differs from epoch to epoch
    """

    def __init__(self, dataset: FeedbackDataset, seed: int = 0) -> None:
        if not isinstance(dataset.feedback, Comparisons) or dataset.whole:
            found = "whole answers" if dataset.whole else type(dataset.feedback).__name__
            raise TypeError(f"dataset: expected comparisons, found {found}")
        self._head, self._n_items = dataset.feedback.near[:, 0], dataset.feedback.n_items
        self._rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return len(self._head)

    def __iter__(self) -> Iterator[int]:
        rank = self._rng.permutation(self._n_items)[self._head]
        return iter(np.lexsort((self._rng.random(len(rank)), rank)).tolist())


def loader(
    feedback: Feedback,
    batch_size: int = 256,
    *,
    inputs: Any = None,
    collate: Callable[[list[Any]], Any] = default_collate,
    by_head: bool = False,
    seed: int = 0,
    num_workers: int = 0,
    whole: bool = False,
) -> DataLoader:  # type: ignore[type-arg, unused-ignore]
    """Batches of what was said, in a new random order at every epoch.

    Parameters
    ----------
    feedback, inputs, collate, whole : as in `FeedbackDataset`
    batch_size : rows of feedback per batch, each with up to four items
    by_head : whether comparisons of one head stay together (`HeadSampler`), so that less is encoded
    seed : of the order
    num_workers : processes that read inputs
    """
    dataset = FeedbackDataset(feedback, inputs, collate, whole)
    generator = torch.Generator().manual_seed(seed)
    rows = HeadSampler(dataset, seed) if by_head else torch.utils.data.RandomSampler(dataset, generator=generator)
    batches = BatchSampler(rows, batch_size, drop_last=False)
    return DataLoader(
        dataset, batch_sampler=batches, collate_fn=_as_it_is, num_workers=num_workers, generator=generator
    )


def _as_it_is(batch: Batch) -> Batch:
    return batch


def _columns(feedback: Comparisons | Links | Ratings) -> tuple[Array, Array, Array | None]:
    """Rows of items, the raters' numbers, and what was said of pairs."""
    if isinstance(feedback, Comparisons):
        return feedback.quadruplets, feedback.answers.rater.codes[feedback.answer], None
    value = feedback.similar if isinstance(feedback, Links) else feedback.difference
    return feedback.pairs, feedback.rater.codes, value


def _whole(feedback: Comparisons | Links | Ratings) -> tuple[Array, Array, Array, tuple[int, int, float]]:
    """Rows of the pairs of each choice, their weights, the raters' numbers, and what kind of choice they are."""
    if not isinstance(feedback, Comparisons):
        raise TypeError(f"whole: expected comparisons, found {type(feedback).__name__}")
    kinds = choices_of(feedback)
    if len({(one.pairs.shape[1:], one.picked, one.sign) for one in kinds}) != 1:
        raise ValueError(
            "whole: expected answers of one form, all with as many items shown and picked; make a dataset for each"
        )
    pairs = np.concatenate([one.pairs.reshape(len(one), -1) for one in kinds])
    weight = np.concatenate([np.ones(len(one)) if one.weight is None else one.weight for one in kinds])
    row = np.concatenate([one.row for one in kinds])
    return pairs, weight, feedback.answers.rater.codes[row], (kinds[0].pairs.shape[1], kinds[0].picked, kinds[0].sign)
