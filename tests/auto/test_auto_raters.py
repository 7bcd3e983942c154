"""Raters who differ: AutoSimilarity tells how sharp each is and how each weighs the dimensions, where that helps."""

import numpy as np
import pytest

import similitude as sm
from similitude.auto import raters, similarity
from similitude.auto.levels import AskedPairs, levels
from similitude.evaluate.answer_scores import answer_losses
from similitude.methods.answering import Sharpness, Weighed

TRUTH = 1.5 * np.random.default_rng(0).normal(size=(15, 2))
CAMPS = {f"r{k}": ([1.4, 0.1], [0.1, 1.4])[k % 2] for k in range(8)}
SHARP = {f"r{k}": (0.3, 0.3, 3.0)[k % 3] for k in range(9)}


def by_camps(count, seed, form="odd_one_out"):
    """So many answers of each rater, half of whom see one dimension and half the other."""
    parts = [
        sm.simulate(TRUTH * see, count, form, raters=sm.Raters.of([1.0], names=[who]), random_state=100 * seed + k)
        for k, (who, see) in enumerate(CAMPS.items())
    ]
    return sm.Comparisons.concatenate(parts)


def by_sharpness(count, seed, form="odd_one_out"):
    """Answers of raters who see the same, some ten times as sharply as others."""
    who = sm.Raters.of([*SHARP.values()], names=[*SHARP])
    return sm.simulate(0.7 * TRUTH, count * len(SHARP), form, raters=who, random_state=seed)


def chosen(c, **settings):
    return sm.AutoSimilarity(dimensions=(2, 3), random_state=0, **settings).fit(c)


def gain(alike, model, test):
    """Mean gain in the loss of answers, and its standard error."""
    by_answer = answer_losses(alike, test)[0] - answer_losses(model, test)[0]
    return by_answer.mean(), by_answer.std() / np.sqrt(len(by_answer))


@pytest.fixture(scope="module")
def camps():
    c = by_camps(80, 1)
    return c, chosen(c), chosen(c, raters=False)


@pytest.mark.slow
def test_weights_are_found_where_raters_see_different_dimensions(camps):
    _, model, alike = camps
    test = by_camps(300, 2)
    assert isinstance(model.similarity_.answering, Weighed)
    assert model.chosen_.candidate.str.startswith("ChoiceEmbedding weights").any()
    mean, error = gain(alike, model, test)
    assert mean > 10 * error
    assert sm.answer_accuracy(model, test) > sm.answer_accuracy(alike, test)  # by .19 ± .05 over seven draws
    assert model.held_out_["answer_log_loss"] == pytest.approx(sm.answer_log_loss(model, test), abs=0.18)  # ± .044
    assert "weigh the dimensions differently" in model.reason_
    assert alike.similarity_.answering is None


@pytest.mark.slow
def test_what_a_rater_sees_is_the_mean_of_what_the_members_say(camps):
    c, model, _ = camps
    pairs = np.array([(i, j) for i in range(15) for j in range(i)])
    size = model._size
    for k, who in enumerate(CAMPS):
        asked = AskedPairs(pairs, np.full(len(pairs), k), tuple(CAMPS))
        expected = size * np.tensordot(model.chosen_.share, [levels(member, asked) for member in model.members_], 1)
        found = model.similarity_.answering.seen(model.similarity_.measure, pairs, np.full(len(pairs), k))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert model.similarity_.answering.names[k] == who
    assert c.n_items == model.embedding_.shape[0]


@pytest.mark.slow
def test_a_member_with_weights_says_what_its_rater_sees(camps):
    member = next(one for one in camps[1].members_ if isinstance(one.similarity_.answering, Weighed))
    known, X = member.similarity_.answering, member.embedding_
    pairs = np.array([(0, 1), (2, 3)])
    rater = np.array([1, -1])  # the second is nobody known
    expected = known.sharpness[rater] * (known.weights[rater] * (X[[0, 2]] - X[[1, 3]]) ** 2).sum(1)
    found = levels(member, AskedPairs(pairs, rater, known.names))
    np.testing.assert_allclose(found * 2.0 * ((X - X.mean(0)) ** 2).sum(1).mean(), expected, rtol=1e-9)


@pytest.mark.slow
def test_it_is_saved_placed_into_and_fitted_again_as_raters_see(camps):
    c, model, _ = camps
    test = by_camps(40, 3)
    loaded = sm.Similarity.from_bytes(model.similarity_.to_bytes())
    assert np.array_equal(loaded.predict_proba(test), model.predict_proba(test))
    again = model.refit_chosen(c)
    np.testing.assert_allclose(again.predict_proba(test), model.predict_proba(test), atol=0.02)
    placed = model.place(sm.Comparisons.from_triplets([(15, 0, 5), (15, 0, 7), (15, 1, 9)], rater=["r0", "r1", "r2"]))
    assert placed.n_items == 16
    assert isinstance(placed.answering, Weighed)


@pytest.mark.slow
def test_who_is_unknown_is_one_of_those_who_are_known(camps):
    model = camps[1]
    rows = np.array([(i, j, k) for i in range(5) for j in range(15) for k in range(j) if i not in (j, k)])
    each = [model.predict_proba(sm.Comparisons.from_triplets(rows, rater=[who] * len(rows))) for who in CAMPS]
    found = model.predict_proba(sm.Comparisons.from_triplets(rows))
    np.testing.assert_allclose(found, np.mean(each, 0), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_alone_it_is_one_fit_with_weights(camps):
    model = chosen(camps[0], average=False)
    assert len(model.members_) == 1
    assert isinstance(model.similarity_.answering, Weighed)
    assert model.reason_.count("ChoiceEmbedding weights") >= 1


@pytest.mark.slow
@pytest.mark.parametrize("form", ["odd_one_out", "triplet"])
def test_sharpness_is_told_by_held_out_answers(form):
    c, test = (by_sharpness(count, seed, form) for count, seed in ((100, 1), (1000, 2)))
    model, alike = chosen(c), chosen(c, raters=False)
    mean, error = gain(alike, model, test)
    assert mean > 3 * error  # 9 at the least of four draws of each form
    rows = np.array([(i, j, k) for i in range(15) for j in range(15) for k in range(j) if i not in (j, k)])

    def sure(who):
        return np.abs(
            model.predict_proba(sm.Comparisons.from_triplets(rows, rater=[who] * len(rows)))[:, 1] - 0.5
        ).mean()

    sharp, dull = ([sure(who) for who, value in SHARP.items() if (value > 1) == is_sharp] for is_sharp in (True, False))
    assert np.mean(sharp) > np.mean(dull)  # the dullest of the sharp ones by .02 to .21 in four draws of each form
    assert isinstance(model.similarity_.answering, Sharpness)  # of which weights are one kind
    assert "Raters" in model.reason_


@pytest.mark.slow
def test_raters_who_are_alike_are_not_told_apart_and_nobody_is_harmed():
    who = sm.Raters.of([1.0] * 8)
    c, test = (sm.simulate(TRUTH, count, "odd_one_out", raters=who, random_state=count) for count in (400, 2000))
    model, alike = chosen(c), chosen(c, raters=False)
    mean, error = gain(alike, model, test)
    assert mean > -4 * error - 1e-12


def test_without_names_of_raters_nothing_changes():
    c = sm.simulate(TRUTH, 300, "odd_one_out", random_state=0)
    assert np.array_equal(chosen(c).predict_proba(c), chosen(c, raters=False).predict_proba(c))


@pytest.mark.slow
def test_a_form_that_a_fold_lacks_is_no_fault(camps):
    grid = sm.simulate(TRUTH, 1, "choice", grid_size=6, raters=sm.Raters.of([1.0], names=["r0"]), random_state=0)
    c = sm.Comparisons.concatenate([camps[0].select(np.arange(240)), grid])
    assert chosen(c).predict_proba(c).shape == (len(c), 2)


@pytest.mark.slow
def test_weights_that_promise_nothing_cost_one_line(camps, monkeypatch):
    monkeypatch.setattr(similarity, "promising", lambda *_: False)
    model = chosen(camps[0])
    weighed = model.tried_.candidate[model.tried_.candidate.str.contains("weights")]
    assert weighed.nunique() == 1
    assert model.ended_ == "finished"
    assert not isinstance(model.similarity_.answering, Weighed)


@pytest.mark.slow
@pytest.mark.own_seed  # of other processes, too
def test_the_number_of_processes_changes_nothing():
    c = by_camps(40, 1)
    one, two = chosen(c), chosen(c, n_jobs=2)
    assert np.array_equal(one.predict_proba(c), two.predict_proba(c))
    assert one.tried_.drop(columns="seconds").equals(two.tried_.drop(columns="seconds"))


def test_a_sharpness_is_shrunk_to_what_is_typical_where_little_is_known():
    power = raters._POWERS
    lost = np.hstack([50.0 * (power - 1.0) ** 2, 50.0 * (power + 1.0) ** 2, 0.0 * power])  # the last said nothing
    sharp, dull, unknown, everybody = np.log(raters._learned(lost))
    assert sharp == pytest.approx(1.0, abs=0.05)
    assert dull == pytest.approx(-1.0, abs=0.05)
    assert unknown == pytest.approx(0.0, abs=0.05)
    assert everybody == pytest.approx(0.0, abs=0.05)


def test_a_bad_setting_is_named():
    with pytest.raises(ValueError, match=r"^raters: expected"):
        sm.AutoSimilarity(raters="weights").fit([(0, 1, 2)])
