"""Links: what they imply, where they conflict, what they compare."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from similitude import Links
from tests.feedback.strategies import seeds


def random_links(rng, n_items=8, count=10, **columns):
    pairs = np.array([rng.choice(n_items, 2, replace=False) for _ in range(count)])
    return Links.of(pairs, rng.random(count) < 0.5, n_items=n_items, **columns)


def consistent_links(rng, n_items=8, count=10, **columns):
    group = rng.integers(0, 4, n_items)
    pairs = np.array([rng.choice(n_items, 2, replace=False) for _ in range(count)])
    return Links.of(pairs, group[pairs[:, 0]] == group[pairs[:, 1]], n_items=n_items, **columns)


def closure_by_loop(links):
    """The links that follow, found by applying the two rules until nothing changes."""
    alike = {frozenset(pair) for pair in links.pairs[links.similar].tolist()}
    apart = {frozenset(pair) for pair in links.pairs[~links.similar].tolist()}
    while True:
        new_alike = {a ^ b for a in alike for b in alike if len(a & b) == 1} - alike
        new_apart = {a ^ b for a in alike for b in apart if len(a & b) == 1} - apart
        if not new_alike and not new_apart:
            return alike, apart
        alike |= new_alike
        apart |= new_apart


@given(seeds())
def test_implied_links_are_those_of_the_two_rules(rng):
    links = consistent_links(rng)
    implied = links.implied()
    alike, apart = closure_by_loop(links)
    assert {frozenset(pair) for pair in implied.pairs[implied.similar].tolist()} == alike
    assert {frozenset(pair) for pair in implied.pairs[~implied.similar].tolist()} == apart
    assert len(implied) == len(alike) + len(apart)
    again = implied.implied()
    np.testing.assert_array_equal(again.pairs, implied.pairs)
    np.testing.assert_array_equal(again.similar, implied.similar)


@given(seeds())
def test_conflicts_are_dissimilar_links_with_a_chain_of_similar_ones(rng):
    links = random_links(rng)
    alike, _ = closure_by_loop(links)
    found = links.conflicts()
    stated = {frozenset(pair) for pair in links.pairs[links.similar].tolist()}
    for conflict in found:
        assert not links.similar[conflict.link]
        assert {conflict.chain[0], conflict.chain[-1]} == set(links.pairs[conflict.link].tolist())
        assert all(frozenset(step) in stated for step in zip(conflict.chain, conflict.chain[1:], strict=False))
    rows = np.flatnonzero(~links.similar)
    inside = [row for row in rows.tolist() if frozenset(links.pairs[row].tolist()) in alike]
    assert [conflict.link for conflict in found] == inside
    if found:
        with pytest.raises(ValueError, match="called dissimilar"):
            links.implied()
        kept = np.setdiff1d(np.arange(len(links)), inside)
        assert links[kept].conflicts() == ()


def test_a_conflict_says_why():
    links = Links.from_pairs([("a", "b"), ("b", "c")], [("a", "c"), ("b", "a")])
    assert str(links.conflicts()[0]) == (
        "'a' and 'c' are called dissimilar (link 2), but similar links join them: 'a' ~ 'b' ~ 'c'"
    )
    assert links.conflicts()[1].chain == (1, 0)
    assert "item 0 ~ item 1" in str(Links.from_pairs([(0, 1)], [(0, 1)]).conflicts()[0])


def test_stated_links_keep_their_weight_when_closed():
    links = Links.from_pairs([(0, 1), (1, 0), (2, 1)], [(2, 3)], weight=[0.5, 3.0, 2.0, 0.0])
    implied = links.implied()
    weight = {tuple(pair): value for pair, value in zip(implied.pairs.tolist(), implied.weight, strict=True)}
    assert weight == {(0, 1): 3.0, (1, 2): 2.0, (0, 2): 1.0, (2, 3): 0.0, (0, 3): 1.0, (1, 3): 1.0}


@given(seeds())
def test_slicing_is_numpy_slicing(rng):
    links = random_links(rng, weight=rng.random(10), rater=rng.choice(["a", "b"], 10))
    for rows in (slice(2, 9, 3), rng.random(10) < 0.5, rng.permutation(10)[:4]):
        part = links[rows]
        np.testing.assert_array_equal(part.pairs, links.pairs[rows])
        np.testing.assert_array_equal(part.similar, links.similar[rows])
        np.testing.assert_array_equal(part.weight, links.weight[rows])
        assert part.rater.values.tolist() == links.rater.values[rows].tolist()
        assert part.n_items == links.n_items


@given(seeds())
def test_similar_pairs_are_compared_with_dissimilar_ones(rng):
    links = random_links(rng, weight=rng.random(10), rater=np.repeat(["a", "b"], 5))
    kind = {rater: {True: {}, False: {}} for rater in "ab"}
    for pair, similar, weight, rater in zip(
        links.pairs.tolist(), links.similar.tolist(), links.weight.tolist(), links.rater.values, strict=True
    ):
        kind[rater][similar].setdefault(frozenset(pair), []).append(weight)
    expected = sum(
        len(near) * len(far)
        for rater in "ab"
        for a, near in kind[rater][True].items()
        for b, far in kind[rater][False].items()
        if a != b
    )
    if expected == 0:
        with pytest.raises(ValueError, match="give links of both kinds"):
            links.to_comparisons()
        return
    c = links.to_comparisons()
    assert len(c) == expected
    assert c.n_answers == 2
    who = c.answers.rater.values[c.answer]
    for near, far, weight, rater in zip(c.near.tolist(), c.far.tolist(), c.weight.tolist(), who, strict=True):
        products = np.outer(kind[rater][True][frozenset(near)], kind[rater][False][frozenset(far)])
        assert np.isclose(products, weight).any()


def test_many_links_are_sampled_those_that_share_an_item_first(rng):
    links = Links.from_labels(np.arange(60), rng.integers(0, 3, 60))
    c = links.to_comparisons(500, random_state=1)
    assert len(c) == 500
    assert c.is_triplet.all()
    assert len(np.unique(c.quadruplets, axis=0)) == 500
    np.testing.assert_array_equal(c.quadruplets, links.to_comparisons(500, random_state=1).quadruplets)
    assert not np.array_equal(c.quadruplets, links.to_comparisons(500, random_state=2).quadruplets)
    apart = Links.from_pairs([(2 * k, 2 * k + 1) for k in range(20)], [(40 + 2 * k, 41 + 2 * k) for k in range(20)])
    without_heads = apart.to_comparisons(30, random_state=0)
    assert len(without_heads) == 30
    assert not without_heads.is_triplet.any()


def test_links_from_labels_are_all_pairs_or_a_sample(rng):
    label = rng.integers(0, 3, 30)
    every = Links.from_labels(np.arange(30), label)
    assert len(every) == 435
    np.testing.assert_array_equal(every.similar, label[every.pairs[:, 0]] == label[every.pairs[:, 1]])
    some = Links.from_labels(np.arange(30), label, n_links=100, random_state=0)
    assert len(np.unique(np.sort(some.pairs, 1), axis=0)) == len(some) == 100
    assert (some.pairs[:, 0] != some.pairs[:, 1]).all()
    np.testing.assert_array_equal(some.similar, label[some.pairs[:, 0]] == label[some.pairs[:, 1]])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Links.from_pairs([(0, 1), (2, 2)]), "link 1 is of item 2 with itself"),
        (lambda: Links.from_pairs([("a", "a")]), "link 0 is of item 'a' with itself"),
        (lambda: Links.of([(0, 1)], [1]), "similar: expected 1 booleans, found int64"),
        (lambda: Links.of([(0, 1)], [True, False]), "similar: expected 1 booleans"),
        (lambda: Links.of([(0, 1, 2)], [True]), r"pairs: expected an array of shape \(rows, 2\)"),
        (lambda: Links.from_pairs([(0, 9)], n_items=3), "found index 9, but there are 3 items"),
        (lambda: Links.from_pairs([(0, 1)], weight=[-1.0]), "weight: expected finite numbers"),
        (lambda: Links.from_pairs([(0, 1)]).to_comparisons(), "found 1 similar and 0 dissimilar"),
        (lambda: Links.from_labels([0, 1], ["x"]), r"label: expected one class per item \(2,\)"),
        (lambda: Links.concatenate([]), "concatenate"),
    ],
)
def test_bad_links_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_joined_links():
    both = Links.concatenate([Links.from_pairs([(0, 1)], rater="a"), Links.from_pairs([], [(1, 5)])])
    assert (len(both), both.n_items) == (2, 6)
    assert both.rater.values.tolist() == ["a", None]
    with pytest.raises(ValueError, match="row 1 has no rater"):
        both.to_comparisons()
