"""Every online method: a stream cut anywhere gives the same bits, saved or not; new items; bad input; its manners."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import similitude as sm
from tests.contracts.registry import ONLINE

CASES = [(method, {}) for method in ONLINE] + [
    (sm.ERKLE, {"passes": 4}),
    (sm.ERKLE, {"project_every": 8, "gradient": "symmetric"}),
    (sm.OnlineEmbedding, {"replay": 0, "loss": "hinge"}),
    (sm.OnlineEmbedding, {"replay": 3, "memory": 60}),
]
IDS = [f"{method.__name__}({', '.join(f'{k}={v}' for k, v in settings.items())})" for method, settings in CASES]
pytestmark = pytest.mark.parametrize(("method", "settings"), CASES, ids=IDS)


def truth(n_items=20, seed=0):
    return np.random.default_rng(seed).normal(size=(n_items, 2))


@pytest.fixture(scope="module")
def noisy():
    return sm.simulate(truth(), 400, flip=0.1, random_state=2)


@pytest.fixture(scope="module")
def unseen():
    return sm.simulate(truth(), 3000, random_state=3)


def state(model):
    return {name: np.array(getattr(model, name)) for name in (*model._arrays, *model._counts)}


def assert_same(first, second):
    """Every bit of the state, as far as it is in use: the room kept for answers to come may differ."""
    for name, value in state(first).items():
        other = state(second)[name]
        count = first.n_answers_ if name in ("_rows", "_weights") else None
        assert np.array_equal(value[:count] if count else value, other[:count] if count else other), name
    assert np.array_equal(first.embedding_, second.embedding_)
    assert first.similarity_.names == second.similarity_.names


def test_at_once_is_one_by_one(method, settings, noisy):
    whole = method(random_state=1, **settings).fit(noisy)
    single = method(random_state=1, n_items=20, **settings)
    for row in noisy.triplets:
        single.partial_fit(row[None])
    in_two = method(random_state=1, n_items=20, **settings).partial_fit(noisy[:150]).partial_fit(noisy[150:])
    assert_same(whole, single)
    assert_same(whole, in_two)


@pytest.mark.parametrize("named", [False, True])
def test_a_model_restored_goes_on_bit_for_bit(method, settings, noisy, tmp_path, named):
    c = noisy.with_items([f"item {k}, «é»" for k in range(20)]) if named else noisy
    model = method(random_state=1, **settings).fit(c[:250])
    model.save(tmp_path / "state")
    restored = method.load(tmp_path / "state")
    assert restored.get_params() == model.get_params()
    assert_same(model, restored)
    assert_same(model.partial_fit(c[250:]), restored.partial_fit(c[250:]))


def test_learns(method, settings, unseen):
    model = method(random_state=0, **settings).fit(sm.simulate(truth(), 3000, random_state=1))
    # One that remembers sixty answers may stay where its first ones led it: .80 and .86 in two of seventy draws.
    assert model.score(unseen) > (0.7 if "memory" in settings else 0.87)
    assert model.n_answers_ == 3000


def test_probabilities_are_honest(method, settings, unseen):
    c = sm.simulate(truth(), 3000, sharpness=1.0, random_state=1)
    later = sm.simulate(truth(), 3000, sharpness=1.0, random_state=5)
    model = method(random_state=0, **settings).fit(c)
    chance = model.predict_proba(later)
    np.testing.assert_allclose(chance.sum(1), 1)
    assert np.array_equal(chance[:, 1] > 0.5, model.predict(later))
    assert sm.log_loss(model, later) < np.log(2)  # chance; .46 ± .06 where it scatters most
    assert sm.calibration_error(model, later) < 0.07  # .027 ± .009 where it is largest


def test_contradictory_answers_leave_it_open(method, settings, noisy):
    both = np.concatenate([noisy.triplets, noisy.triplets[:, [0, 2, 1]]])
    model = method(random_state=0, **settings).fit(both[np.random.default_rng(0).permutation(len(both))])
    assert np.isfinite(model.embedding_).all()
    assert model.score(both) == pytest.approx(0.5, abs=1e-9)
    assert abs(sm.log_loss(model, sm.Comparisons.from_triplets(both)) - np.log(2)) < 0.05


def test_manners_of_scikit_learn(method, settings, noisy):
    model = method(random_state=1, **settings)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(noisy)
    with pytest.raises(NotFittedError):
        model.distances()
    with pytest.raises(NotFittedError):
        model.save("nowhere")
    model.fit(noisy)
    again = clone(model).fit(noisy)
    assert_same(model, again)
    assert_same(model.fit(noisy), again)  # fit forgets what was before
    assert method(n_items=20, **settings).fit(noisy, np.ones(400, bool)).n_answers_ == 400


def test_what_was_read_out_stays_as_it_was(method, settings, noisy):
    model = method(random_state=1, **settings).fit(noisy[:200])
    before, copy = model.similarity_, model.similarity_.embedding.copy()
    model.partial_fit(noisy[200:])
    assert np.array_equal(before.embedding, copy)
    assert model.similarity_ is not before
    assert not np.array_equal(model.distances(), before.distances())
    with pytest.raises(ValueError, match="read-only"):
        model.embedding_[0] = 1.0


def test_responses_turn_answers_round(method, settings, noisy):
    flipped = np.random.default_rng(0).random(len(noisy)) < 0.5
    rows = np.where(flipped[:, None], noisy.triplets[:, [0, 2, 1]], noisy.triplets)
    expected = method(random_state=1, n_items=20, **settings).partial_fit(noisy)
    for responses in (~flipped, np.where(flipped, -1, 1)):
        found = method(random_state=1, n_items=20, **settings).partial_fit(rows[:9], responses[:9])
        assert_same(expected, found.partial_fit(rows[9:], responses[9:]))


def test_weight_zero_is_no_answer(method, settings, noisy):
    weight = (np.arange(len(noisy)) % 2).astype(float)
    weighted = method(random_state=1, **settings).fit(noisy.reweight(weight))
    dropped = method(random_state=1, n_items=20, **settings).fit(noisy[weight > 0])
    assert_same(weighted, dropped)


def test_a_small_weight_moves_less(method, settings, noisy):
    light, full = (method(random_state=1, **settings).fit(noisy.reweight(w)) for w in (1e-3, 1.0))
    still = method(random_state=1, n_items=20, **settings).partial_fit(np.empty((0, 3), int))
    arrays = [getattr(model, "_kernel" if method is sm.ERKLE else "_X") for model in (light, full, still)]
    # A share of .15 to .21 ± .11 over draws for the hinge without replay, less for the others.
    assert np.abs(arrays[0] - arrays[2]).max() < 0.7 * np.abs(arrays[1] - arrays[2]).max()


def test_relabelled_names_are_followed(method, settings, noisy):
    names = [f"i{k:02}" for k in range(20)]
    named = noisy.with_items(names)
    turned = named.with_items(names[::-1])
    expected = method(random_state=1, **settings).fit(named)
    found = method(random_state=1, **settings).fit(named[:100]).partial_fit(turned[100:])
    assert_same(expected, found)
    with pytest.raises(ValueError, match="by name, the comparisons theirs by position"):
        found.partial_fit(named.triplets)


def test_new_items_join_when_asked_to(method, settings, noisy):
    old = noisy[(noisy.quadruplets < 15).all(1)]
    new = noisy[~(noisy.quadruplets < 15).all(1)]
    model = method(random_state=1, grow=True, **settings).fit(old.triplets).partial_fit(new)
    assert model.n_items_ == 20
    assert model.embedding_.shape[0] == 20
    assert model.score(new) > 0.55  # at the least .785 ± .057
    one_by_one = method(random_state=1, grow=True, **settings).fit(old.triplets)
    for row in new.triplets:
        one_by_one.partial_fit(row[None])
    assert one_by_one.n_items_ == 20
    labels = [f"i{k:02}" for k in range(20)]
    named = method(random_state=1, grow=True, **settings)
    for a, b, c in noisy.triplets[:60]:
        named.partial_fit([(labels[a], labels[b], labels[c])])
    assert set(named.similarity_.names) <= set(labels)
    assert named.similarity_.names[:3] == tuple(sorted(labels[k] for k in noisy.triplets[0]))


def test_unknown_items_are_refused_and_nothing_changes(method, settings, noisy):
    model = method(random_state=1, **settings).fit(noisy)
    before = state(model)
    with pytest.raises(ValueError, match=r"item 20 is not among the 20 items .*grow=True"):
        model.partial_fit([(0, 1, 2), (0, 1, 20)])
    with pytest.raises(ValueError, match="knows its items by position"):
        model.partial_fit([("a", "b", "c")])
    named = method(random_state=1, **settings).fit([("a", "b", "c"), ("b", "a", "d")])
    with pytest.raises(ValueError, match=r"item 'e' is not among the 4 items .*grow=True"):
        named.partial_fit([("a", "b", "e")])
    with pytest.raises(ValueError, match="by name, the comparisons theirs by position"):
        named.set_params(grow=True).partial_fit([(0, 1, 4)])
    assert all(np.array_equal(value, before[name]) for name, value in state(model).items())


def test_settings_changed_on_the_way_never_draw_an_answer_that_was_not_given(method, settings, noisy):
    model = method(random_state=1, **settings).fit(noisy)
    more = {"passes": 9} if method is sm.ERKLE else {"replay": 9, "memory": 500}
    model.set_params(**more).partial_fit(noisy)
    kept = model._rows[: model.n_answers_]
    assert {tuple(row) for row in kept} <= {tuple(row) for row in noisy.quadruplets}


def test_bad_streams_are_refused(method, settings, noisy):
    model = method(random_state=1, **settings)
    with pytest.raises(ValueError, match="none to learn from"):
        model.fit(np.empty((0, 3), int))
    model.fit(noisy)
    for rows, message in [
        ([(0, 0, 1)], "an item with itself"),
        ([(0, 1, 1)], "same pair"),
        ([(0, 1, -2)], "at least 0, found -2"),
        ([(0, 1)], "shape"),
        ([(0.5, 1, 2)], "whole numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows)
    with pytest.raises(ValueError, match=r"found 0\.7"):
        model.partial_fit([(0, 1, 2)], [0.7])
    assert model.n_answers_ == 400
    assert_same(model.partial_fit(np.empty((0, 3), int)), method(random_state=1, **settings).fit(noisy))


def test_files_that_are_no_state_are_named(method, settings, noisy, tmp_path):
    (tmp_path / "text").write_text("hello", encoding="utf-8")
    with pytest.raises(ValueError, match="text is not the state of an online model"):
        method.load(tmp_path / "text")
    model = method(**settings).fit(noisy)
    model.similarity_.save(tmp_path / "map.sim")
    with pytest.raises(ValueError, match=r"map\.sim is not the state of an online model"):
        method.load(tmp_path / "map.sim")
    other = sm.OnlineEmbedding if method is sm.ERKLE else sm.ERKLE
    model.save(tmp_path / "state")
    with pytest.raises(ValueError, match=f"use {method.__name__}.load"):
        other.load(tmp_path / "state")


def test_no_warning_for_items_still_to_come(method, settings, noisy):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = method(random_state=1, n_items=25, **settings).partial_fit(noisy)
    assert np.isfinite(model.distances()).all()
