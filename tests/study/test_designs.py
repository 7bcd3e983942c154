"""Blocks and conditions as they are written: what fits together, in which order, and what a condition changes."""

import json
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from similitude.study.designs import in_order, orders
from similitude.study.rounds import place
from similitude.study.settings import StudyError, read_study
from tests.study.making import SHORT, faces, write_study

TWO = """
[[block]]
name = "near"
question = {number = 4}
practice = [{shown = ["face00", "face01", "face02"], correct = [1]}]
[[block]]
name = "far"
question = {form = "similarity_rating", number = 3, scale = 5}
items = ["face0*", "face11"]
catch = [{shown = ["face00", "face01"], correct = [5]}]
catch_every = 2
"""
CONDITIONS = """
[[condition]]
name = "all"
quota = 4
[[condition]]
name = "few"
blocks = ["far"]
items = ["face00", "face01", "face02", "face03"]
text = "How near?"
strategy = "random"
texts = {skip = "Next"}
"""


def read(tmp_path, toml, first=""):
    return read_study(write_study(tmp_path, "faces", f'title = "T"\n{first}\n{SHORT}{toml}', faces(12)))


def test_a_study_without_blocks_is_one_part_and_its_digest_knows_of_none(tmp_path):
    study = read(tmp_path, "[question]\nnumber = 7")
    (part,) = study.parts
    assert (part.block, part.pool, part.length, study.length) == ("", "", 7, 7)
    assert part.items(["a", "b"]) == ["a", "b"]
    assert not {"block", "block_order", "condition", "assignment", "seen_by"} & set(json.loads(study.as_json()))


def test_blocks_take_what_they_do_not_say_from_the_question(tmp_path):
    study = read(tmp_path, "[question]\nnumber = 9\nskip = false" + TWO)
    near, far = study.parts
    assert (near.question.form, near.question.number, near.question.skip, near.length) == ("triplet", 4, False, 5)
    assert (far.question.scale, far.length, study.length) == (5, 4, 9)
    names = [f"face{k:02d}" for k in range(12)]
    assert far.items(names) == [*names[:10], "face11"]


def test_what_a_condition_changes_is_changed_for_its_raters_alone(tmp_path):
    study = read(tmp_path, TWO + CONDITIONS)
    few = study.under("few")
    (part,) = few.parts
    assert (part.block, part.question.text, part.strategy, part.pool) == ("far", "How near?", "random", "far:few")
    assert part.items([f"face{k:02d}" for k in range(12)]) == ["face00", "face01", "face02", "face03"]
    assert few.texts["skip"] == "Next"
    assert few.length == 4
    assert study.under("all").parts == study.parts
    assert study.under(None) is study.under("gone") is study
    assert study.parts[1].question.text is None


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (TWO + '[[block]]\nname = "near"', r"block\.2\.name: .*found 'near' twice"),
        (TWO.replace("near", "Near it"), r"block\.0\.name: .*found 'Near it'"),
        (TWO + '[practice]\nquestions = [{shown = ["a", "b", "c"], correct = [1]}]', "in each block"),
        (TWO.replace("catch = ", "# "), r"block\.1\.catch_every: expected 0, or questions"),
        (
            TWO + CONDITIONS.replace('["far"]', '["fr"]'),
            r"condition\.1\.blocks: expected the blocks .*, found 'fr'",
        ),
        ('[[condition]]\nname = "one"', "at least two"),
        (TWO + CONDITIONS.replace("skip =", "skp ="), r"condition\.1\.texts\.skp: there is no text"),
        ('[[block]]\nname = "a"\nquestion = {form = "labelling"}', "classes: a labelling needs at least 2"),
        ('[[condition]]\nname = "a"\nquota = 0', r"condition\.0\.quota: .*found 0"),
        ("seen_by = 1", "seen_by: unknown key"),
    ],
)
def test_what_does_not_go_together_is_said(tmp_path, toml, message):
    with pytest.raises(StudyError, match=message):
        read(tmp_path, toml)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_balanced_orders_put_every_block_everywhere_and_after_every_other_equally_often(n):
    rows = orders([f"b{k}" for k in range(n)], "balanced")
    assert len(rows) == (n if n % 2 == 0 else 2 * n)
    assert all(sorted(row) == sorted(rows[0]) for row in rows)
    assert len(set(Counter((k, name) for row in rows for k, name in enumerate(row)).values())) == 1
    after = Counter(pair for row in rows for pair in pairwise(row))
    assert len(after) == n * (n - 1)
    assert len(set(after.values())) == 1
    assert orders(["a", "b"], "fixed") == orders(["a"], "balanced") == []


def test_a_round_goes_through_the_parts_in_the_order_of_the_rater(tmp_path):
    study = read(tmp_path, TWO)
    parts = in_order(study.parts, ["far", "near"])
    found = [place(parts, "r0001", number) for number in range(study.length + 2)]
    assert [one.part.block for one in found] == ["far"] * 4 + ["near"] * 7
    assert Counter((one.part.block, one.kind) for one in found[:9]) == {
        ("far", "question"): 3, ("far", "catch"): 1, ("near", "practice"): 1, ("near", "question"): 4
    }  # fmt: skip
    assert found[4].kind == "practice"
    assert in_order(study.parts, None) == study.parts
    assert [part.block for part in in_order(study.parts, ["far"])] == ["far", "near"]


def test_catch_trials_of_a_study_without_blocks_stand_where_they_always_did(tmp_path):
    known = '{shown = ["face00", "face01", "face02"], correct = [1]}'
    study = read(tmp_path, f"[question]\nnumber = 40\n[catch]\nevery = 8\nquestions = [{known}, {known}]")
    found = [place(study.parts, "r0007", number) for number in range(45)]
    first = Random("r0007").randrange(2)
    for stretch in range(5):
        where = 9 * stretch + Random(f"r0007 {stretch}").randrange(9)
        assert (found[where].kind, found[where].known) == ("catch", (first + stretch) % 2)
    assert sum(one.kind == "catch" for one in found) == 5
