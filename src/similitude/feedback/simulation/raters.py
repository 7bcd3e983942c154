"""Raters: how sharply each simulated rater sees, and how often they answer at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from similitude.display.words import counted
from similitude.feedback.cards import raters_card
from similitude.feedback.checks import check_share
from similitude.feedback.columns import frozen
from similitude.types import Column, Floats, Seed


@dataclass(frozen=True, eq=False, repr=False)
class Raters:
    """Simulated raters, one row each.

    Attributes
    ----------
    sharpness : (raters,) how strongly a difference of squared distances decides the answer: nearer wins with
        probability `1 / (1 + exp(-sharpness · (d2_far - d2_near)))`; infinite is without noise
    lapse : (raters,) share of the answers that are given at random
    names : the raters' names

    Examples
    --------
    >>> import similitude as sm
    >>> raters = sm.Raters.of([20.0, 1.0], lapse=[0.0, 0.5], names=["careful", "hasty"])
    >>> raters
    <2 raters, sharpness 1 to 20, lapse 0 to 0.5>
    """

    sharpness: Floats
    lapse: Floats
    names: tuple[str, ...]

    @classmethod
    def of(cls, sharpness: float | Column, lapse: float | Column = 0.0, names: Sequence[str] | None = None) -> Raters:
        """Make the table from one sharpness per rater, one lapse for all or per rater, and names."""
        sharp = frozen(np.atleast_1d(np.asarray(sharpness, float)))
        if sharp.ndim != 1 or len(sharp) == 0:
            raise ValueError(f"sharpness: expected one number per rater, found shape {sharp.shape}")
        if not (sharp >= 0).all():
            raise ValueError(f"sharpness: expected numbers of at least 0, found {sharp[~(sharp >= 0)][0]}")
        lapses = np.asarray(lapse, float)
        if lapses.ndim and lapses.shape != sharp.shape:
            raise ValueError(f"lapse: expected one number or {len(sharp)}, found shape {lapses.shape}")
        check_share(lapses, "lapse")
        labels = tuple(names) if names is not None else tuple(f"rater {k + 1}" for k in range(len(sharp)))
        if len(labels) != len(sharp) or len(set(labels)) < len(labels):
            raise ValueError(f"names: expected {len(sharp)} different names, found {labels}")
        return cls(sharp, frozen(np.broadcast_to(lapses, sharp.shape)), labels)

    @classmethod
    def draw(
        cls,
        n_raters: int,
        sharpness: float = 1.0,
        spread: float = 0.5,
        lapse: float = 0.0,
        random_state: Seed = None,
    ) -> Raters:
        """Draw raters whose sharpness is `sharpness · exp(spread · z)`, z standard normal."""
        if n_raters < 1:
            raise ValueError(f"n_raters: expected at least 1, found {n_raters}")
        if not spread >= 0:
            raise ValueError(f"spread: expected a number of at least 0, found {spread}")
        rng = np.random.default_rng(random_state)
        return cls.of(sharpness * np.exp(spread * rng.standard_normal(n_raters)), lapse)

    def __len__(self) -> int:
        return len(self.sharpness)

    def __repr__(self) -> str:
        low, high = self.sharpness.min(), self.sharpness.max()
        text = f"sharpness {low:.3g} to {high:.3g}, lapse {self.lapse.min():g} to {self.lapse.max():g}"
        return f"<{counted(len(self), 'rater')}, {text}>"

    def _repr_html_(self) -> str:
        return raters_card(self)
