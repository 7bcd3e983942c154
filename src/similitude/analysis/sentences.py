"""What the sections of the report say, each in a sentence or two; the accuracy itself is said once, at the top."""

from __future__ import annotations

import numpy as np
import pandas as pd

from similitude.analysis.learn import Findings
from similitude.analysis.paper import described
from similitude.display.words import counted
from similitude.evaluate.intervals import too_few


def sections(found: Findings) -> dict[str, object]:
    """Sentences and tables by the name that the template knows them by."""
    return {
        "model_said": described(found),
        "average_said": _average(found),
        "tried": tried(found),
        "baselines_table": _baselines_table(found),
        "forecast_said": "" if found.forecast is None else found.forecast.advice.short,
        "forecast_table": _forecast_table(found),
        "sureness_said": _sureness(found),
        "dimensions_said": _dimensions(found),
        "flat_said": _flat(found),
        "probabilities_said": _probabilities(found),
    }


def tried(found: Findings) -> pd.DataFrame:
    """The settings of the choice by how far each was behind the best, in points.

    Their own accuracies were measured on other folds than the report's, and a second figure of the same name would only
    confuse.
    """
    table = found.chosen.tried
    if not len(table):
        return table
    whole = table.folds == table.folds.max()  # who dropped out earlier was measured on fewer answers
    behind = 100 * (table.accuracy[whole].max() - table.accuracy)
    shown = table.assign(behind=behind.where(whole).round(2), error=(100 * table.error).where(whole).round(2))
    shown = shown[["candidate", "dimension", "penalty", "behind", "error", "folds", "chosen", "dropped"]]
    return shown.rename(
        columns={"penalty": "penalty (of a fold)", "behind": "behind (points)", "error": "error (points)"}
    )


def dimensions(found: Findings) -> pd.DataFrame:
    """The numbers of dimensions by how far each was behind the best, in points."""
    assert found.dimensions is not None
    table = found.dimensions.table
    points = {f"{name} (points)": (100 * table[name]).round(2) for name in ("behind", "error", "gain")}
    return pd.DataFrame({"dimensions": table.dimensions, **points, "p_value": table.p_value})


def _average(found: Findings) -> str:
    """What an average of several fits would gain; nothing where that is not known, or of too few answers to tell."""
    value, low, high = (100 * share for share in found.chosen.average_gain)
    if found.wanted.average or high <= low or too_few(found.comparisons.n_answers):
        return ""
    interval = f"of the comparisons (95% interval {low:+.1f} to {high:+.1f} points)"
    if value < 0.05:
        return f"An average of several fits would predict no more {interval}."
    return f"An average of several fits would predict {value:.1f} points more {interval}: see --average."


def _baselines_table(found: Findings) -> pd.DataFrame | None:
    """What each measure of the features predicts without learning, in percent."""
    table = found.baselines
    if table is None:
        return None
    figures = {"accuracy": "predicted (%)", "low": "from", "high": "to"}
    percent = {called: (100 * table[name]).round(1) for name, called in figures.items()}
    several = {"modality": table.modality} if table.modality.any() else {}
    return pd.DataFrame({"measure": table.measure, **several, **percent})


def _forecast_table(found: Findings) -> pd.DataFrame | None:
    if found.forecast is None:
        return None
    table = found.forecast.table[found.forecast.table.more > 0]
    shown = {"more answers": table.more, "answers in all": table.answers}
    gains = {"gain": table.gain, "from": table.gain_low, "to": table.gain_high}
    return pd.DataFrame(shown | {f"{name} (points)": (100 * own).round(1) for name, own in gains.items()})


def _sureness(found: Findings) -> str:
    if found.sureness is None:
        return ""
    within = np.nanmedian(found.sureness.within)
    return (
        f"For half of the items, 95% of the maps that fit the answers have the item within {within:.2g} of where it is "
        "here. The radius in the table is a typical distance, not the largest."
    )


def _dimensions(found: Findings) -> str:
    choice = found.dimensions
    if choice is None:
        return ""
    text = f"The model has {counted(choice.chosen, 'dimension')}: "
    text += (
        "the best number"
        if choice.best == choice.chosen
        else f"the smallest number within one standard error of the best of this method, {choice.best}"
    )
    table = choice.table.set_index("dimensions").accuracy
    same = [d for d in table.index if d > choice.chosen and table[d] == table[table.index[-1]]]
    if len(same) > 1:
        text += f". From {same[0]} dimensions on nothing changes: the penalty leaves the others empty"
    tested = "the same number" if choice.tested == choice.chosen else f"{choice.tested}"
    return f"{text}. That rule chose; a test of each step, beyond which no gain is significant, says {tested}."


def _flat(found: Findings) -> str:
    """What a model that is as flat as its map would predict, where that was measured."""
    if found.dimensions is None or found.dimension is None or found.dimension < 3 or found.accuracy.value is None:
        return ""
    by_number = found.dimensions.table.set_index("dimensions").accuracy
    if 2 not in by_number:
        return ""
    fewer = float(by_number[found.dimension] - by_number[2])
    share = f"{found.accuracy.value - fewer:.1%}"
    return f"The same method in two dimensions alone predicts {share}, by {100 * fewer:.1f} points less."


def _probabilities(found: Findings) -> str:
    """How far probabilities are off and in which direction, and where they come from."""
    table = found.calibration
    if table is None:
        return ""
    sure, right = (float(np.average(table[name], weights=table.weight)) for name in ("predicted", "observed"))
    gap = 100 * abs(sure - right)
    way = "neither too sure nor too careful" if gap < 0.5 else "too sure" if sure > right else "too careful"
    on_average = f"on the whole it is {way}" + (f", by {gap:.1f} points" if gap >= 0.5 else "")
    silent = [name for name in dict.fromkeys(found.model.chosen_.candidate) if name in ("SOE", "GNMDS")]
    own = f" ({' and '.join(silent)} alone would give none)" if silent else ""
    return (
        f"On held-out answers, the model's probabilities are off by {100 * found.calibration_error:.1f} points on "
        f"average, up or down; {on_average}. They come from the distances on the map, by a curve that was fitted to "
        f"held-out answers{own}."
    )
