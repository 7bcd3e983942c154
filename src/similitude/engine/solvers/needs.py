"""What a solver needs of a problem, said before it begins: which part it cannot use, and which solver can.

The lone term of comparisons that minibatches and starts need is found, or missed, by `comparison_terms.compared`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge


@dataclass(frozen=True)
class Needs:
    """The attributes of a problem that a solver works with.

    Attributes
    ----------
    solver : its name
    smooth : a penalty with a gradient
    ridge : a penalty that is a ridge
    free_positions : a model of free positions, nothing fixed or mapped
    """

    solver: str
    smooth: bool = False
    ridge: bool = False
    free_positions: bool = False

    def check(self, problem: Any) -> None:
        """Refuse a problem that lacks something."""
        sentence = self.lacking(problem)
        if sentence is not None:
            raise TypeError(f"{self.solver} needs {sentence}")

    def lacking(self, problem: Any) -> str | None:
        """Return what a problem lacks, which part it has instead and what can use that; None where it has all."""
        penalty = type(problem.penalty).__name__
        if self.smooth and not problem.penalty.smooth:
            return f"a smooth penalty, and {penalty} has no gradient; use accelerated"
        if self.free_positions and not _is_free(problem.model):
            return f"free positions, found {type(problem.model).__name__}; use lbfgs"
        if self.ridge and not isinstance(problem.penalty, Ridge):
            return f"a ridge, found {penalty}; use accelerated"
        return None


def _is_free(model: Any) -> bool:
    return type(model) is Positions and model.features is None and model.fixed is None and model.beside is None
