"""What every column of every table of a report means: on the page, in `tables/columns.csv` and in the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pandas as pd

_INTERVAL = {"low": "lower end of its 95% interval", "high": "upper end of its 95% interval"}


def _again(name: str, fits: str) -> dict[str, str]:
    """Columns of how far a dimension comes again."""
    ends = {f"{name}_{end}": f"{side} end of its 95% interval" for end, side in (("low", "lower"), ("high", "upper"))}
    return {name: f"mean correlation of the dimension with its match, of {fits}", **ends}


MEANINGS: dict[str, dict[str, str]] = {
    "positions": {
        "item": "name of the item",
        "dimension 1, 2, ...": "its coordinates on the map",
        "map axis 1, 2, ...": "the same, of a map beside dimensions that have names: turned, so that axes mean nothing",
    },
    "distances": {
        "item": "name of the item",
        "one column per item": "distance between the two on the map; of a model of dot products, which the corner of "
        "the table names, minus the product of the two, that of an item with itself included",
    },
    "neighbours": {
        "item": "name of the item",
        "nearest 1, 2, ...": "the items most like it, most alike first; of a model of dot products those alone that it "
        "has something in common with",
    },
    "surprising_answers": {
        "near": "the two items that were called more alike",
        "far": "the two items that were called less alike",
        "probability": "chance of that answer according to the model",
        "rater": "who gave the answer",
    },
    "settings_tried": {
        "candidate": "method",
        "dimension": "number of dimensions",
        "penalty (of a fold)": "strength of the penalty, as used on a fold of the answers",
        "behind (points)": "how many percentage points fewer held-out comparisons it predicts than the best setting; "
        "empty for a setting that was dropped early",
        "error (points)": "standard error of its accuracy, in percentage points",
        "folds": "on how many folds it was tried",
        "chosen": "whether the model was made with it",
        "dropped": "when and why it was dropped before the last fold",
    },
    "average": {
        "candidate": "method of one of the fits that were averaged",
        "dimension": "its number of dimensions",
        "penalty": "strength of its penalty",
        "share": "its weight in the average",
    },
    "dimensions": {
        "dimensions": "number of dimensions",
        "behind (points)": "how many percentage points fewer held-out comparisons it predicts than the best number",
        "error (points)": "standard error of that difference, in percentage points",
        "gain (points)": "how many percentage points more it predicts than the number before",
        "p_value": "test of that gain: small where the extra dimensions predict better",
    },
    "check": {
        "name": "what was measured",
        "value": "the figure; empty where the answers cannot tell",
        "low": "lower end of its interval, where it has one",
        "high": "upper end of its interval, where it has one",
        "note": "what the figure means, or why it is unknown",
    },
    "raters": {
        "rater": "who",
        "answers": 'number of answers, "can\'t tell" included',
        "agreement": "how often other raters agree; 0.5 is chance",
        **_INTERVAL,
        "statements": "how many independent comparisons the agreement rests on",
        "answered_by_others": "share of these that others answered too; for the rest, the answers of the others imply "
        "what they would say",
        "self_consistency": "how often an answer is what the rater's own other answers imply; 0.5 is chance",
        "self_consistency_low": "lower end of its 95% interval",
        "self_consistency_high": "upper end of its 95% interval",
        "verdict": "like the others, answers at random, sees things differently, or cannot be told",
        "cant_tell": 'share of "can\'t tell" among the answers',
        "seconds": "median time of an answer in seconds",
        "side": "share of answers at the position on the screen that the rater chose most",
        "side_p_value": "chance of so one-sided answers if positions are random; tiny for someone who favours a side",
        "rhythm_p_value": "chance of so many or so few changes of side from one answer to the next; tiny for someone "
        "who clicks in a pattern",
        "note": "what stands out, or why nothing can be said",
    },
    "raters_sharpness": {
        "rater": "who",
        "answers": "number of answers",
        "sharpness": "how closely the answers follow the map: a typical rater has 1, random clicks 0",
        **_INTERVAL,
        "less_sharp": "whether the whole interval lies below 0.4",
    },
    "groups_..._items": {
        "item": "name of the item",
        "statistic": "how differently the groups see the pairs with this item; about 1 where groups do not matter",
        "p_value": "test of that, corrected for the number of items",
    },
    "groups_..._pairs": {
        "a": "first item of the pair",
        "b": "second item of the pair",
        "more_alike_to": "the group to whom the two are more alike",
        "difference": "how much more alike they are to that group than to the others, beyond what one map of everybody "
        "expects; good for comparing pairs with each other",
        "p_value": "test of that, corrected for the number of pairs",
    },
    "groups_..._power": {
        "changed": "share of the answers that another view of the items would change",
        "power": "how often a study like this one would find such a difference",
    },
    "by_...": {
        "part": "a condition, or a quarter of each rater's session",
        "answers": "number of answers",
        "points": "by how many percentage points more of these held-out answers are predicted than on average over the "
        "parts",
        **_INTERVAL,
        "seconds": "median time of an answer in seconds",
    },
    "items_that_need_answers": {
        "item": "name of the item",
        "comparisons": "how many have the item in them",
        "radius": "how far it moves from one sample of answers to another, in units of the map",
        "relative_radius": "the same as a share of the spread of the map; at 1 nothing is known of where the item is",
        "neighbour": "in what share of such samples its nearest neighbour is the one on this map; near 0, the answers "
        "do not say which of the items around it is nearest",
    },
    "features_without_learning": {
        "measure": "how features are compared: by angle (cosine) or by distance (Euclid)",
        "modality": "which features; mean: all of them, each in units of its mean",
        "accuracy": "share of the answers (of plain comparisons, of these) that they predict, nothing being learned",
        **_INTERVAL,
    },
    "forecast": {
        "answers": "number of answers in all",
        "more": "how many more than there are now",
        "accuracy": "share of new answers (of plain comparisons, of these) that is expected to be predicted: that of "
        "now and the expected gain",
        **_INTERVAL,
        "gain": "expected accuracy less that of now",
        "gain_low": "lower end of its 95% interval",
        "gain_high": "upper end of its 95% interval",
    },
    "named_dimensions": {
        "dimension": "number of the dimension, the heaviest first",
        "name": "its name",
        "named_from": "where the name comes from: an attribute or the first items, which is a suggestion, or you",
        "weight": "its share of the squared values of all dimensions",
        "items": "how many items it is about: the square of the sum of its values over the sum of their squares",
        "share": "how much it decides: its share of what the model knows of the answers beyond chance",
        "share_low": "lower end of its 95% interval",
        "share_high": "upper end of its 95% interval",
        "without": "by how much the log-loss of an answer rises when the dimension is left out",
        "without_low": "lower end of its 95% interval",
        "without_high": "upper end of its 95% interval",
        "reproducible": "whether fits from other starts find it again",
        **_again("seeds", "fits from other starts"),
        **_again("halves", "fits of two halves of the answers"),
    },
    "dimension_values": {
        "item": "name of the item",
        "dimension 1, 2, ...": "how much it has of the dimension, never below 0",
    },
    "dimension_attributes": {
        "dimension": "number of the dimension",
        "attribute": "what is known of the items",
        "correlation": "rank correlation of the two over items",
        **_INTERVAL,
        "p_value": "share of shuffles of the items in which any attribute goes as well with any dimension",
        "items": "how many items have the attribute",
    },
    "columns": {"table": "name of the file", "column": "name of the column", "meaning": "what it says"},
}
"""By the name of the table; dots stand for the column of the answers by which they were compared."""


def meaning(table: str, column: str) -> tuple[str, str]:
    """A column of a table (one of several that are numbered stands for all of them), and what it means."""
    known = MEANINGS[re.sub("^groups_.*_(items|pairs|power)$", r"groups_..._\1", re.sub("^by_.*", "by_...", table))]
    numbered = re.sub(" [0-9]+$", " 1, 2, ...", column)
    return (column, known[column]) if column in known else (numbered, known[numbered])


def explained(tables: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """A row per column of these tables, given the columns of each: table, column, meaning."""
    rows = [(table, *meaning(table, column)) for table, columns in tables.items() for column in columns]
    return pd.DataFrame(list(dict.fromkeys(rows)), columns=["table", "column", "meaning"])
