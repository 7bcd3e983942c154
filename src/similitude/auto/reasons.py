"""What was tried, as a table, and why the choice fell as it did, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from similitude.auto.held_out import HeldOut
from similitude.auto.race import Race, Trial
from similitude.display.words import counted
from similitude.evaluate.ceiling import CLEANED, above_ceiling
from similitude.evaluate.intervals import too_few
from similitude.graph.consistency import ceiling_of


def tried_table(race: Race, chosen: tuple[Trial, ...]) -> pd.DataFrame:
    """Return a row per setting that was fitted, those that came farthest first, then by accuracy."""
    rows = []
    for trial in race.trials:
        accuracy, error = race.accuracy(trial)
        rows.append(
            {
                "candidate": trial.line.name,
                "dimension": trial.line.dimension,
                "penalty": trial.penalty,
                "accuracy": accuracy,
                "error": error,
                "log_loss": _log_loss(race, trial),
                "folds": len(trial.near),
                "seconds": trial.seconds,
                "chosen": trial in chosen,
                "dropped": trial.dropped,
            }
        )
    table = pd.DataFrame(rows).sort_values(["chosen", "folds", "accuracy"], ascending=False, ignore_index=True)
    return table.astype({"dimension": "Int64"})


def _log_loss(race: Race, trial: Trial) -> float:
    folds = sorted(trial.near)
    chances = [trial.chance[k] for k in folds]
    if any(chance is None for chance in chances):
        return float("nan")
    weight = race.c.weight[np.concatenate([race.tests[k] for k in folds])]
    chance = np.maximum(np.concatenate([own for own in chances if own is not None]), np.finfo(float).tiny)
    return float(np.average(-np.log(chance), weights=weight))


def reason(race: Race, found: HeldOut, single: HeldOut, average: bool) -> str:
    """Return why this was chosen, in plain sentences."""
    settings, lines = len(race.trials), len({trial.line for trial in race.trials})
    fits = sum(len(trial.near) for trial in race.trials)
    said = [
        f"{counted(settings, 'setting')} of {counted(lines, 'candidate')} (a method in so many dimensions) "
        f"{'was' if settings == 1 else 'were'} compared on held-out answers, in {counted(fits, 'fit')} over "
        f"{counted(max(len(race.folds), 1), 'fold')}.",
        _outcome(found, single, average),
        _score(race, found),
        *_raters(race, found),
    ]
    rivals = [
        trial
        for trial in race.standing()
        if trial not in found.trials and not trial.weighed and trial.line.name != _best(single).line.name
    ]
    if rivals:
        said.append(_rival(race, rivals[0], found if _knows_raters(found) else single))
    if race.ended == "time limit":
        said.append("The time limit ended the search before all of it was tried: more time may find better.")
    if race.ended == "interrupted":
        said.append("The search was interrupted: this is the best of what had been tried.")
    return " ".join(said)


def _score(race: Race, found: HeldOut) -> str:
    value, low, high = found.accuracy()
    few = too_few(len(np.unique(found.answer)))
    if few:
        return f"How well it predicts: {few}."
    if race.c.cleaned:
        return f"It ordered {value:.1%} of what cleaning left correctly; {CLEANED}."
    above = above_ceiling(value, ceiling_of(race.c), _knows_raters(found))
    return (
        f"It ordered {value:.1%} of the held-out comparisons correctly (95% interval {low:.1%} to {high:.1%})"
        f"{above}{_answers(race, found)}. It was chosen for that, so it may do a little worse on new ones."
    )


def _answers(race: Race, found: HeldOut) -> str:
    """The same of answers as wholes, where they are more than comparisons."""
    return f", and {found.answer_accuracy()[0]:.1%} of the answers as wholes" if race.wide else ""


def _raters(race: Race, found: HeldOut) -> Iterator[str]:
    """How raters differ, where they were found to."""
    if _knows_raters(found):
        yield "Raters weigh the dimensions differently: predictions are those for the rater who is asked."
    if found.sharpness is not None:
        least, most = found.sharpness[:-1].min(), found.sharpness[:-1].max()
        yield (
            f"Raters differ in how sharp they are, by a factor of {most / least:.2g} from the dullest of "
            f"{len(race.names)} to the sharpest."
        )


def _knows_raters(found: HeldOut) -> bool:
    """Whether predictions depend on who is asked, more than in how sure they are."""
    return any(trial.weighed for trial in found.trials)


def _best(single: HeldOut) -> Trial:
    return single.trials[0]


def _outcome(found: HeldOut, single: HeldOut, average: bool) -> str:
    best = _best(found if len(found.trials) == 1 else single)
    named = f"{best.line} at a penalty of {best.penalty:.3g}"
    if len(found.trials) == 1:
        why = "" if not average else "; an average of several fits predicted no better"
        return f"{named} predicted best{why}."
    if too_few(len(np.unique(found.answer))):
        return f"The average of {len(found.trials)} fits was chosen."
    gain, low, high = found.gain_over(single)
    rival = "the best that takes raters as alike" if _knows_raters(found) else "the best single one"
    text = f"The average of {len(found.trials)} fits was chosen. Compared with {rival}, {named}, it "
    text += f"ordered {abs(gain):.2%} {'more' if gain >= 0 else 'fewer'} of the held-out comparisons correctly "
    text += f"(95% interval of the gain {low:+.2%} to {high:+.2%})"
    return text + ("." if gain >= 0 else ", which may be chance: the best of many settings looks better than it is.")


def _rival(race: Race, rival: Trial, chosen: HeldOut) -> str:
    less, low, _ = chosen.gain_over(HeldOut.of(race, [rival]))
    sure = "surely" if low > 0 else "but not surely"
    if less <= 0:
        return f"{rival.line} did as well."
    return f"The best of another method, {rival.line}, ordered {less:.2%} fewer correctly ({sure})."
