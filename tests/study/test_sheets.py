"""Sheets: the live model of a study and the export of the same answers compare the same, short or long."""

import contextlib
import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import similitude as sm
from similitude.feedback.forms.pieces import PER_PIECE
from similitude.study.log import comparisons_of, read_log
from similitude.study.maintenance.bring_in import bring_in
from similitude.study.maintenance.export import export_answers
from similitude.study.site import open_site
from tests.study.servers import write_study

NAMES = [f"w{k:02d}" for k in range(30)]
PAIRS = [list(pair) for pair in combinations(NAMES, 2)]
SETTINGS = {
    "rated_pair": '[question]\nform = "similarity_rating"\nnumber = 9\n',
    "same_different": '[question]\nform = "same_different"\nnumber = 9\n',
    "labelled_item": '[question]\nform = "labelling"\nnumber = 9\nclasses = ["x", "y", "z"]\n',
}
SAID = {
    "rated_pair": lambda rng: [float(rng.integers(1, 8))],
    "same_different": lambda rng: [float(rng.integers(0, 2))],
    "labelled_item": lambda rng: [float(rng.integers(0, 3)), float(rng.integers(0, 5)) / 4],
}


def rows_of(form, each, rng):
    """Answers of two raters in turn, some of which are "can't tell"."""
    shown = PAIRS if form != "labelled_item" else [[name] for name in NAMES]
    drawn = [[shown[k] for k in rng.permutation(len(shown))[:each]] for _ in range(2)]
    for number in range(len(drawn[0])):
        for rater in range(2):
            said = [] if number % 7 == 3 else SAID[form](rng)
            yield {"form": form, "rater": f"r{rater}", "shown": drawn[rater][number], "response": said}


def counted(c):
    """Comparisons with their raters and weights, whatever numbers and order they have."""
    who = c.answers.rater.values[c.answer]
    pairs = (
        (frozenset(c.names[k] for k in near), frozenset(c.names[k] for k in far))
        for near, far in zip(c.near, c.far, strict=True)
    )
    return Counter(zip(who.tolist(), pairs, c.weight.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("form", SETTINGS)
@pytest.mark.parametrize("each", [8, 435], ids=["short", "long"])
def test_the_live_model_and_the_export_compare_the_same(tmp_path, form, each):
    rows = list(rows_of(form, each, np.random.default_rng(0)))
    given = tmp_path / "given.jsonl"
    given.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    folder = write_study(tmp_path / "words", SETTINGS[form], NAMES)
    with contextlib.closing(open_site(folder)) as site:
        service = site.studies["words"]
        bring_in(service, given)
        with site.database.read() as connection:
            names = NAMES[::-1]  # other numbers of the items than those of the export
            live = comparisons_of(read_log(connection, service.study_id, names)[0], names)
        export_answers(site.database, "words", tmp_path / "export.csv")
    exported = sm.read_comparisons(tmp_path / "export.csv")
    assert counted(live) == counted(exported)
    assert (live.n_answers, exported.n_answers) == (2, 2)
    said = Counter(row["rater"] for row in rows if row["response"])
    compared = Counter(live.answers.rater.values[live.answer].tolist())
    if each == 8:
        whole = sm.Comparisons.from_answers(live.answers, n_items=len(NAMES))  # sheets, not pieces: all there is
        assert len(live) == len(whole) > 0
    else:
        assert compared == {rater: PER_PIECE * number for rater, number in said.items()}
    sm.write_comparisons(live, tmp_path / "again.jsonl")
    assert counted(sm.read_comparisons(tmp_path / "again.jsonl")) == counted(live)


def test_what_others_say_does_not_change_what_a_sheet_compares():
    rows = list(rows_of("rated_pair", 200, np.random.default_rng(1)))
    both = sm.read_comparisons(frame(rows))
    alone = sm.read_comparisons(frame([row for row in rows if row["rater"] == "r1"]))
    assert {key: n for key, n in counted(both).items() if key[0] == "r1"} == counted(alone)


def test_a_pair_that_was_asked_twice_is_not_compared_with_itself():
    rows = [
        {"form": "rated_pair", "rater": "r0", "shown": pair, "response": [value]}
        for pair, value in ((["a", "b"], 1.0), (["b", "a"], 7.0), (["a", "c"], 4.0))
    ]
    c = sm.read_comparisons(frame(rows))
    assert counted(c) == {
        ("r0", (frozenset("ab"), frozenset("ac")), 1.0): 1,
        ("r0", (frozenset("ac"), frozenset("ab")), 1.0): 1,
    }


def test_very_long_sheets_of_labels_are_drawn_evenly_without_listing_all():
    rng = np.random.default_rng(2)
    rows = [
        {"form": "labelled_item", "rater": "r0", "shown": [f"i{k}"], "response": [float(k % 3), float(rng.random())]}
        for k in range(300)
    ]
    c = sm.read_comparisons(frame(rows))
    assert len(c) == PER_PIECE * 300
    assert max(counted(c).values()) == 1
    label = {row["shown"][0]: row["response"] for row in rows}
    for near, far in zip(c.near.tolist(), c.far.tolist(), strict=True):
        head, one, other = c.names[near[0]], c.names[near[1]], c.names[far[1]]
        assert label[head][0] == label[one][0]
        assert label[other][0] != label[head][0] or label[other][1] < label[one][1]
    heads = np.bincount(c.near[:, 0], minlength=300)
    assert 5 < heads.min() <= heads.max() < 40


def frame(rows):
    import pandas as pd

    return pd.DataFrame(rows)
