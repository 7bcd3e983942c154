"""Whole answers in shards: read as they were written, the same objective and optimum as in memory."""

import numpy as np
import pytest

import similitude as sm
from similitude.engine.choice_shards import ChoiceRule, ChoicesInShards, choice_weight
from similitude.engine.choice_terms import Picked
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.terms import Formula, student
from similitude.feedback.forms import picking_forms
from similitude.feedback.whole_answers import choices_of
from similitude.graph.counts import count_shards

pytest.importorskip("pyarrow", reason="folders of comparisons need pyarrow")

TRUTH = np.random.default_rng(0).normal(size=(20, 2))
NAMES = [f"item {k}" for k in range(20)]


def every_form():
    """Answers of every form that picks, some "can't tell", some in part, and ratings."""
    said = [
        sm.simulate(TRUTH, 150, form, grid_size=5, names=NAMES, cant_tell=0.2, random_state=k)
        for k, form in enumerate(picking_forms())
    ]
    rated = sm.simulate(TRUTH, 40, names=NAMES, random_state=9)
    c = sm.Comparisons.concatenate([*said, rated])
    c = c.reweight(np.random.default_rng(1).choice([0.5, 1.0], c.n_answers)[c.answer])
    return c.rows(np.arange(len(c)) % 50 != 7)  # what cleaning might have left


@pytest.fixture(scope="module")
def answers():
    return every_form()


@pytest.fixture(scope="module")
def dataset(answers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "answers"
    with sm.ComparisonWriter(folder, group_rows=60, whole=True) as writer:
        for half in np.array_split(np.arange(answers.n_answers), 2):
            writer.write(answers.select(half))
    return sm.ComparisonDataset(folder, shard_rows=400)


def in_order(c):
    number = c.names.index
    rows = np.array([[number(name) for name in NAMES]])[0].argsort()[c.quadruplets]
    rows[:, :2].sort(axis=1)
    rows[:, 2:].sort(axis=1)
    return np.column_stack([rows, c.weight])[np.lexsort(rows.T)]


def test_a_folder_of_whole_answers_gives_their_comparisons(answers, dataset):
    assert dataset.n_shards > 3
    assert len(dataset) == len(answers)
    everything = dataset.sample(10**9)
    np.testing.assert_allclose(np.sort(in_order(everything)[:, 4]), np.sort(answers.weight))
    assert {*map(tuple, in_order(everything)[:, :4])} == {*map(tuple, in_order(answers)[:, :4])}
    again = dataset.sample_answers(10**9)
    assert again.n_answers >= answers.n_answers
    assert again.answers.cant_tell.sum() == answers.answers.cant_tell.sum()
    total = sum(one.weight.sum() for one in choices_of(answers, cant_tell=True))
    assert choice_weight(dataset, True) == pytest.approx(total)
    assert sum(one.weight.sum() for one in choices_of(again, cant_tell=True)) == pytest.approx(total)


@pytest.mark.parametrize("dot", [False, True])
@pytest.mark.parametrize("unsure", [0.0, 0.3])
def test_value_and_gradient_are_those_of_the_whole(answers, dataset, dot, unsure):
    scale, vectors = Formula(student, 1.0), Positions(20, 3)
    said = choices_of(answers, cant_tell=unsure > 0)
    term = Picked(scale, said, lapse=0.1, unsure=unsure)
    whole = Problem(DotProducts(vectors) if dot else vectors, term, Ridge(0.1, 20))
    order = [dataset.names.index(name) for name in answers.names]
    at = np.random.default_rng(2).normal(size=(20, 3))
    there = np.empty_like(at)
    there[order] = at
    rule = ChoiceRule(scale, dot, 0.1, unsure)
    parts = ChoicesInShards(dataset, rule, vectors, Ridge(0.1, 20), choice_weight(dataset, unsure > 0))
    value, gradient = whole.value_and_gradient(at.ravel())
    found, slope = parts.value_and_gradient(there.ravel())
    assert found == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slope.reshape(20, 3)[order], gradient.reshape(20, 3), rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    c = sm.simulate(TRUTH, 1200, "odd_one_out", sharpness=2.0, cant_tell=0.1, random_state=0)
    folder = tmp_path_factory.mktemp("odd") / "answers"
    with sm.ComparisonWriter(folder, group_rows=200, whole=True) as writer:
        writer.write(c)
    return c, sm.ComparisonDataset(folder, shard_rows=700)


@pytest.mark.parametrize(
    ("settings", "mapped"), [({}, False), ({"similarity": "distance", "cant_tell": "auto"}, False), ({}, True)]
)
def test_the_optimum_is_that_of_memory(odd, settings, mapped):
    c, dataset = odd
    features = TRUTH if mapped else None
    rng = np.random.default_rng(0)
    rng.integers(2**63)  # the sample's seed, so that the levels of noise are drawn alike
    here = sm.ChoiceEmbedding(4, random_state=rng, **settings).fit(c, features=features)
    there = sm.ChoiceEmbedding(4, random_state=0, **settings).fit(dataset, features=features)
    assert there.penalty_ == pytest.approx(here.penalty_)
    # distances have local optima: of thirteen draws one ended in another dimension, .008 and .013 worse, else 3e-5
    assert there.objective_ == pytest.approx(here.objective_, rel=0.03 if settings else 1e-3)
    assert there.cant_tell_ == pytest.approx(here.cant_tell_, abs=0.03)  # ± .004
    assert sm.answer_log_loss(there, c) == pytest.approx(sm.answer_log_loss(here, c), abs=0.04 if settings else 2e-3)
    assert there.embedding_.shape == (20, 4)


def test_a_small_sample_is_enough_of_a_start(odd, monkeypatch):
    from similitude.methods import sharded_choices

    c, dataset = odd
    monkeypatch.setattr(sharded_choices, "sample_size", lambda _: len(dataset) // 3)
    here, there = (sm.ChoiceEmbedding(4, similarity="distance", random_state=0).fit(one) for one in odd)
    assert there.penalty_ == pytest.approx(here.penalty_, rel=0.2)  # the level of noise is drawn from a third
    assert there.n_dimensions_ == pytest.approx(here.n_dimensions_, abs=4)  # one or two off in half of the draws
    assert sm.answer_log_loss(there, c) == pytest.approx(sm.answer_log_loss(here, c), abs=0.03)


def test_other_methods_read_the_same_folder(odd):
    c, dataset = odd
    here, there = (sm.STE(2, random_state=0).fit(one).objective_ for one in odd)
    assert there == pytest.approx(here, rel=1e-3)
    assert count_shards(dataset).comparisons == len(c)


def test_what_shards_do_not_know_is_said(odd, tmp_path):
    with pytest.raises(ValueError, match="not who answered"):
        sm.ChoiceEmbedding(2, raters=True).fit(odd[1])
    import pyarrow as pa
    import pyarrow.parquet as pq

    broken = tmp_path / "broken"
    broken.mkdir()
    table = pa.table({"shown_0": [0], "shown_1": [1]}, metadata={b"similitude": b'{"form": "odd_one_out"'})
    pq.write_table(table, broken / "part.parquet")
    with pytest.raises(ValueError, match="cut off or not ours"):
        sm.ComparisonDataset(broken)
    kind = b'{"form": "odd_one_out", "shown": 3, "picked": 1}'
    pq.write_table(table.replace_schema_metadata({b"similitude": kind}), broken / "part.parquet")
    with pytest.raises(ValueError, match="said_0, shown_2 is missing"):
        sm.ComparisonDataset(broken)
