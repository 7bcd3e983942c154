"""Scores of questions against their definitions, and the search for the best against looking at all."""

import numpy as np
import pytest

import similitude as sm
from similitude.active import head_gain
from similitude.active.asked import Asked
from similitude.active.head_gain import CrowdKernelGain
from similitude.active.posterior import Posterior
from similitude.active.scores import AnswerEntropy, InformationGain, entropy, information_gain
from tests.active.test_posterior import LOSSES, answers, model


def test_entropy_is_one_bit_for_a_coin():
    assert np.allclose(entropy(np.array([0.0, 0.5, 1.0, 0.25])), [0, 1, 0, 0.8112781])


def exact_gain(mean, variance):
    """h(E p) - E h(p) by quadrature."""
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    p = 1 / (1 + np.exp(-(mean + np.sqrt(variance) * node)))
    weight = weight / weight.sum()
    return entropy(np.array([weight @ p]))[0] - weight @ entropy(p)


def test_information_gain_is_close_to_its_integral():
    for mean in (0.0, 0.5, 1.0, 2.0, 4.0):
        for variance in (0.01, 0.1, 1.0, 4.0, 25.0):
            closed = information_gain(np.array([mean]), np.array([variance]))[0]
            assert closed == pytest.approx(exact_gain(mean, variance), abs=0.035)


def test_information_gain_rises_with_ignorance_and_falls_with_certainty():
    mean, variance = np.meshgrid(np.linspace(0, 6, 60), np.linspace(0.01, 30, 80))
    gain = information_gain(mean, variance)
    assert (np.diff(gain[:, 0]) > 0).all()
    assert (np.diff(gain, axis=1) <= 1e-12).all()
    assert np.allclose(gain, information_gain(-mean, variance))
    assert ((gain >= 0) & (gain <= 1)).all()


def rows(head, n):
    b, c = np.triu_indices(n, 1)
    return np.stack([np.full(len(b), head), b], 1), np.stack([np.full(len(b), head), c], 1), b, c


@pytest.mark.parametrize("loss", LOSSES)
def test_every_scorer_gives_the_same_by_head_and_by_question(loss):
    similarity, c = model(loss), answers()
    posterior = Posterior.of(similarity, c)
    near, far, b, k = rows(3, 9)
    for scorer in (InformationGain(posterior), AnswerEntropy(posterior), CrowdKernelGain(similarity, c)):
        table = scorer.table(3)
        assert np.allclose(table, table.T)
        assert np.allclose(table[b, k], scorer.of(near.astype(np.int32), far.astype(np.int32)))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_pair_is_the_best_of_all(loss, seed):
    n, head = 40, seed
    similarity = model(loss, n=n, d=2, seed=seed)
    c = answers(n=n, m=600, seed=seed + 10)
    scorer, asked = InformationGain(Posterior.of(similarity, c)), Asked("triplet", 3, n, c)
    for _ in range(5):
        table = scorer.table(head)
        table[head] = table[:, head] = -1
        b, k = np.divmod(asked.pairs_of_head(head), n)
        table[b, k] = table[k, b] = -1
        first, second, score = scorer.best_pair(head, asked)
        assert score == pytest.approx(table.max(), abs=1e-12)
        assert table[first, second] == pytest.approx(table.max(), abs=1e-12)
        assert [head, first, second] not in asked
        asked.add(np.array([[head, first, second]], np.int32))


def test_no_pair_is_left_when_all_were_asked():
    near, far, b, k = rows(0, 5)
    keep = (b != 0) & (k != 0)
    asked = Asked("triplet", 3, 5, sm.Comparisons.from_triplets(np.column_stack([near, far[:, 1]])[keep]))
    assert InformationGain(Posterior.of(model(n=5), None)).best_pair(0, asked) is None


def test_uncertainty_is_greatest_where_both_are_as_near():
    similarity = sm.Similarity(np.array([[0.0], [1.0], [-1.0], [3.0]]), LOSSES["STE"])
    table = AnswerEntropy(Posterior.of(similarity, None)).table(0)
    assert table[1, 2] == pytest.approx(1.0)
    assert table[1, 2] > table[1, 3]


def test_ackl_is_the_gain_of_the_posterior_over_positions(monkeypatch):
    monkeypatch.setattr(head_gain, "_COVER", 1.0)
    similarity, c, head = model("CKL"), answers(), 2
    scorer = CrowdKernelGain(similarity, c)
    others = np.delete(np.arange(9), head)
    X = similarity.embedding

    def probability(x, b, k):
        return similarity.loss.probability(((X[x] - X[b]) ** 2).sum(-1), ((X[x] - X[k]) ** 2).sum(-1))

    mine = c.triplets[c.triplets[:, 0] == head]
    tau = np.prod([probability(others, b, k) for _, b, k in mine], axis=0)
    tau /= tau.sum()

    def bits(t):
        return -(t * np.log2(t)).sum()

    for b, k in [(0, 1), (3, 7), (5, 8)]:
        p = probability(others, b, k)
        chance = tau @ p
        after = chance * bits(tau * p / chance) + (1 - chance) * bits(tau * (1 - p) / (1 - chance))
        assert scorer.table(head)[b, k] == pytest.approx(bits(tau) - after, abs=1e-9)


def test_ackl_without_answers_puts_the_head_anywhere_else():
    kept, tau = CrowdKernelGain(model("CKL"), None).support(4)
    assert sorted(kept) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert np.allclose(tau, 1 / 8)
