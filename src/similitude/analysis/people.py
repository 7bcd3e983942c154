"""What a report says of the people: how sharply each answers, and whether groups, conditions and time matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from similitude.analysis.phases import Phases
from similitude.auto.similarity import AutoSimilarity
from similitude.evaluate.group_difference import GroupDifference
from similitude.evaluate.groups import compare_groups
from similitude.evaluate.intervals import clustered_mean
from similitude.evaluate.parts import Parts, compare_parts, conditions, sessions
from similitude.evaluate.rater_groups import attribute_columns
from similitude.evaluate.scores import correct
from similitude.feedback.comparisons import Comparisons
from similitude.folds import AnswerFold, held_out
from similitude.methods.ordinal import STE
from similitude.methods.raters import RaterEmbedding

_FOLDS = 4
_MOST_COLUMNS = 4


def sharpness(c: Comparisons, d: int, seed: int) -> tuple[pd.DataFrame, tuple[float, float, float]]:
    """How sharply each rater answers, and what knowing it gains on held-out answers."""
    knowing, pooling = RaterEmbedding(d, random_state=seed), STE(d, random_state=seed)
    folds = list(AnswerFold(_FOLDS, random_state=seed).split(c))
    right = [
        held_out(c, folds, lambda training, test, one=one: correct(clone(one).fit(training), test))
        for one in (knowing, pooling)
    ]
    gain = clustered_mean(right[0] - right[1], np.asarray(c.weight), c.answer)
    return clone(knowing).fit(c).raters_, gain


def groups(c: Comparisons, seed: int, phases: Phases) -> tuple[GroupDifference, ...]:
    """Whether groups of raters, or two conditions within them, differ, by the first few columns that make some."""

    def differ(name: str) -> GroupDifference | None:
        return phases.optional(
            f"whether groups differ by {name}", lambda _: compare_groups(c, name, random_state=seed), whole=True
        )

    found = map(differ, attribute_columns(c)[:_MOST_COLUMNS])
    return tuple(one for one in found if one is not None)


def parts(c: Comparisons, model: AutoSimilarity, features: Any, seed: int, phases: Phases) -> tuple[Parts, ...]:
    """Whether answers are predicted as well over the session and under each condition, where the answers tell these."""
    session, columns = sessions(c), list(conditions(c).items())[:_MOST_COLUMNS]
    if session is None and not columns:
        return ()

    def compared(_: Any) -> tuple[Parts, ...]:
        folds = list(AnswerFold(_FOLDS, random_state=seed).split(c))
        right = held_out(c, folds, lambda train, test: correct(model.refit_chosen(train, features=features), test))
        found = [compare_parts(c, right, by, part, names, random_state=seed) for by, (part, names) in columns]
        if session is not None:
            found.append(compare_parts(c, right, *session, over_time=True, random_state=seed))
        return tuple(found)

    return phases.optional("whether answers change with conditions and time", compared, whole=True) or ()
