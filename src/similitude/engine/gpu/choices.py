"""The likelihood of choices on tensors: what `engine.compiled_choices` does on the CPU.

Every step is one of torch's over some rows at a time; nothing is compiled, so that a first fit need not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

_ROWS = 1 << 22  # choices at a time


def add(
    sets: Any,
    level: torch.Tensor,
    sources: Sequence[torch.Tensor],
    pull: torch.Tensor,
    by_source: torch.Tensor,
) -> torch.Tensor:
    """Return the sum of the weighted losses of choices of one size, left on the device.

    Adds to `pull` the derivative by each level, and to the rows of `by_source` those by what is in `sources`: the log
    of each source's sharpness, the logit of its lapse, and that of its share of "can't tell".
    """
    sharp, lapse, unsure = sources
    total = level.new_zeros((), dtype=torch.float64)
    for first in range(0, len(sets.weight), _ROWS):
        rows = slice(first, first + _ROWS)
        place, weight, source = sets.place[rows].long(), sets.weight[rows], sets.source[rows].long()
        steep = sets.sign * sharp[source]
        value = steep[:, None] * level[place].sum(2)
        odds = sets.log_sets + unsure[source] if sets.ties else None
        lost, slope, tie = losses(value, sets.picked, odds, sets.tied)
        lost, kept, by_share = lapsed(lost, lapse[source], sets.by_chance)
        slope *= (weight * kept)[:, None]
        total += (weight * lost).sum(dtype=torch.float64)
        by_source[0].index_add_(0, source, (slope * value).sum(1))
        by_source[1].index_add_(0, source, weight * by_share)
        if tie is not None:
            by_source[2].index_add_(0, source, weight * kept * (tie - float(sets.tied)))
        by_level = (steep[:, None] * slope)[:, :, None].expand(place.shape)
        pull.index_add_(0, place.reshape(-1), by_level.reshape(-1))
    return total


def losses(
    value: torch.Tensor, picked: int, odds: torch.Tensor | None = None, tied: bool = False
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """(q,) -log of the chance of what was said; (q, m) its derivative by the values; (q,) the chance of "can't tell".

    That is what was said where answers are `tied`, else that the first `picked` alternatives are those picked; `odds`
    are as in the compiled pass, None where nobody could say it.
    """
    if picked == 1:
        total = torch.logsumexp(value, 1)
        slope = torch.exp(value - total[:, None])
    else:
        total, slope = _chances_of_sets(value, picked)
    tie = None
    if odds is not None:
        share = picked / value.shape[1]
        own = odds + share * value.sum(1)
        total = torch.logaddexp(total, own)
        tie = torch.exp(own - total)
        slope += tie[:, None] * (share - slope)
        if tied:
            return total - own, slope - share, tie
    slope[:, :picked] -= 1.0
    return total - value[:, :picked].sum(1), slope, tie


def lapsed(
    lost: torch.Tensor, share: torch.Tensor, by_chance: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Losses with a share of answers by chance, their derivatives by those without, and by the logit of the share."""
    right = torch.exp(-lost)
    mixed = ((1.0 - share) * right + share * by_chance).clamp(min=torch.finfo(lost.dtype).tiny)
    sure = share == 0.0  # the log of a chance is known there even where the chance is 0 in these numbers
    kept = torch.where(sure, torch.ones_like(lost), (1.0 - share) * right / mixed)
    return torch.where(sure, lost, -torch.log(mixed)), kept, share * (1.0 - share) * (right - by_chance) / mixed


def _chances_of_sets(value: torch.Tensor, picked: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(q,) log e_k(exp v), and (q, m) the chance that each alternative is among the k that are picked."""
    before, after = _sums(value, picked), _sums(value.flip(1), picked).flip(1)
    total = before[:, -1, picked]
    beside = before[:, :-1, :picked] + after[:, 1:, :picked].flip(2)
    return total, torch.exp(value + torch.logsumexp(beside, 2) - total[:, None])


def _sums(value: torch.Tensor, picked: int) -> torch.Tensor:
    """(q, m + 1, k + 1) log e_r of the exponentials of the first j values, for every j and r."""
    sums = value.new_full((len(value), picked + 1), -torch.inf)
    sums[:, 0] = 0.0
    found = [sums]
    for column in value.T:
        taken = torch.logaddexp(sums[:, 1:], sums[:, :-1] + column[:, None])
        sums = torch.cat([sums[:, :1], taken], 1)
        found.append(sums)
    return torch.stack(found, 1)
