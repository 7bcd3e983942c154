"""Batches: what was said comes back whole, over items that each stand once."""

import numpy as np
import pytest

import similitude as sm

NAMES = [f"item {k}" for k in range(20)]


@pytest.fixture
def answers():
    truth = np.random.default_rng(0).normal(size=(20, 2))
    return sm.simulate(truth, 300, names=NAMES, random_state=1)


def said(batch):
    """The rows of a batch as item numbers."""
    return {tuple(row) for row in batch.items[batch.places].tolist()}


@pytest.mark.parametrize("by_head", [False, True])
def test_an_epoch_holds_every_comparison_once(st, answers, by_head):
    batches = list(st.loader(answers, 64, by_head=by_head))
    assert [len(batch) for batch in batches] == [64, 64, 64, 64, 44]
    rows = [tuple(row) for batch in batches for row in batch.items[batch.places].tolist()]
    assert sorted(rows) == sorted(map(tuple, answers.quadruplets.tolist()))
    for batch in batches:
        assert len(batch.items.unique()) == len(batch.items)
        assert set(batch.places.ravel().tolist()) == set(range(len(batch.items)))


@pytest.mark.parametrize("by_head", [False, True])
def test_epochs_differ_and_a_seed_repeats_them(st, answers, by_head):
    one, other = (st.loader(answers, 64, by_head=by_head, seed=3) for _ in range(2))
    first, second = said(next(iter(one))), said(next(iter(one)))
    assert first != second
    assert said(next(iter(other))) == first


def test_batches_by_head_hold_fewer_items(st):
    truth = np.random.default_rng(0).normal(size=(400, 2))
    answers = sm.simulate(truth, 4000, random_state=1)
    apart, together = (
        sum(len(batch.items) for batch in st.loader(answers, 100, by_head=by_head)) for by_head in (False, True)
    )
    assert together < 0.85 * apart  # about 210 of 300 rows' items are distinct at random; two of three by head


def test_weights_raters_and_values_come_along(st):
    c = sm.Comparisons.from_triplets([(0, 1, 2), (3, 1, 2)], weight=[0.5, 2.0], rater=["ann", "bob"])
    batch = st.FeedbackDataset(c)[[1]]
    assert (batch.weight.tolist(), batch.rater.tolist(), batch.value) == ([2.0], [1], None)
    links = sm.Links.from_pairs(similar=[(0, 1)], dissimilar=[(1, 2)])
    assert st.FeedbackDataset(links)[:].value.tolist() == [1.0, 0.0]
    ratings = sm.Ratings.of([(0, 1), (1, 2)], [7, 2], larger="similar")
    assert st.FeedbackDataset(ratings)[:].value.tolist() == [-7.0, -2.0]


def test_inputs_are_those_of_the_items_once_each(torch, st, answers):
    texts = [f"text of {name}" for name in NAMES]
    batch = next(iter(st.loader(answers, 16, inputs=texts)))
    assert batch.inputs == [texts[k] for k in batch.items]
    vectors = torch.arange(40.0).reshape(20, 2)
    batch = next(iter(st.loader(answers, 16, inputs=vectors)))
    assert torch.equal(batch.inputs, vectors[batch.items])
    with pytest.raises(ValueError, match="inputs: expected one for each of 20 items, found 3"):
        st.loader(answers, inputs=texts[:3])


def test_processes_may_read_the_inputs(torch, st, answers):
    vectors = torch.arange(40.0).reshape(20, 2)
    batches = list(st.loader(answers, 100, inputs=list(vectors), num_workers=1))
    assert len(batches) == 3
    assert all(torch.equal(batch.inputs, vectors[batch.items]) for batch in batches)


def test_triplets_are_places_of_heads_near_and_far_items(torch, st, answers):
    batch = st.FeedbackDataset(answers)[:50]
    rows = torch.stack([batch.items[column] for column in batch.triplets], dim=1)
    assert rows.tolist() == answers.triplets[:50].tolist()
    without = st.FeedbackDataset(sm.Comparisons.from_quadruplets([(0, 1, 2, 3)]))[:]
    with pytest.raises(ValueError, match="with a head each"):
        without.triplets  # noqa: B018


def test_triplets_of_inputs_go_to_the_losses_of_others(torch, st, answers):
    head, near, far = answers.triplets[7].tolist()
    assert st.TripletDataset(answers)[7] == (head, near, far)
    assert st.TripletDataset(answers, NAMES)[7] == (NAMES[head], NAMES[near], NAMES[far])
    vectors = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    loaded = next(iter(torch.utils.data.DataLoader(st.TripletDataset(answers, vectors), batch_size=8)))
    assert torch.isfinite(torch.nn.TripletMarginLoss()(*loaded))


def test_a_batch_moves_as_a_whole(torch, st, answers):
    batch = st.FeedbackDataset(answers, inputs=torch.zeros(20, 1))[:4].to("meta")
    assert {one.device.type for one in (batch.items, batch.places, batch.weight, batch.rater, batch.inputs)} == {"meta"}


def test_links_have_no_heads(st):
    with pytest.raises(TypeError, match="expected comparisons, found Links"):
        st.loader(sm.Links.from_pairs(similar=[(0, 1)]), by_head=True)
