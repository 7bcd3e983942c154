"""A-TACKL: the gain of a question about the features' weights and the head's free part."""

import numpy as np
import pytest

import similitude as sm
from similitude.active import head_gain
from similitude.active.head_gain import AuxiliaryGain

N = 12
FEATURES = np.random.default_rng(0).normal(size=(N, 2))


def answers(m=60):
    truth = np.hstack([FEATURES * [1.5, 0.0], np.random.default_rng(1).normal(size=(N, 1))])
    return sm.simulate(truth, m, sharpness=2.0, random_state=2)


def fitted(**settings):
    return sm.TACKL(1, random_state=0, **settings).fit(answers(), features=FEATURES)


def entropy(p):
    return -p * np.log2(p) - (1 - p) * np.log2(1 - p)


@pytest.mark.parametrize("joint", [False, True])
def test_the_score_is_the_fall_of_the_entropy_of_weights_and_free_part(monkeypatch, joint):
    """H(w, xhat) - p H(.|b) - (1 - p) H(.|c), every entropy of the whole table of samples (ERRATA of 4.27, 4.29)."""
    monkeypatch.setattr(head_gain, "_COVER", 1.0)
    fit, b, c = fitted(), 5, 8
    heads = answers().triplets[:, 0]
    head = int(np.bincount(heads[~np.isin(heads, [b, c])]).argmax())  # of which most is known
    fit.joint = joint
    scorer = AuxiliaryGain(fit, answers(), np.random.default_rng(0))
    assert scorer.weights.shape == (4, 2)
    unit = (FEATURES - FEATURES.mean(0)) / FEATURES.std(0)

    def probability(w, x, near, far):
        d2 = [((w * (unit[head] - unit[k])) ** 2).sum() + ((x - fit.free_[k]) ** 2).sum() for k in (near, far)]
        return (fit.mu + d2[1]) / (2 * fit.mu + d2[0] + d2[1])

    def alone(w, near, far):
        d2 = [((w * (unit[head] - unit[k])) ** 2).sum() for k in (near, far)]
        return (fit.mu + d2[1]) / (2 * fit.mu + d2[0] + d2[1])

    mine = answers().triplets
    mine = mine[mine[:, 0] == head]
    assert len(mine) > 1
    whole = np.array([[np.prod([probability(w, x, j, k) for _, j, k in mine]) for x in fit.free_]
                      for w in scorer.weights])  # fmt: skip
    if joint:
        tau = whole / whole.sum()
    else:
        of_w = np.array([np.prod([alone(w, j, k) for _, j, k in mine]) for w in scorer.weights])
        tau = (of_w / of_w.sum())[:, None] * whole / whole.sum(1, keepdims=True)
    p = np.array([[probability(w, x, b, c) for x in fit.free_] for w in scorer.weights])

    def bits(share):
        share = share / share.sum()
        return -(share * np.log2(share)).sum()

    said_b = (tau * p).sum()
    expected = bits(tau) - said_b * bits(tau * p) - (1 - said_b) * bits(tau * (1 - p))
    found = scorer.of(np.array([[head, b]], np.int32), np.array([[head, c]], np.int32))
    assert found[0] == pytest.approx(expected, abs=1e-9)
    assert found[0] == pytest.approx(entropy(said_b) - (tau * entropy(p)).sum(), abs=1e-9)
    assert scorer.table(head)[b, c] == pytest.approx(found[0], abs=1e-12)


def test_what_is_sure_is_not_asked():
    """Of a head with its answers, a question that was answered many times tells less than before."""
    fit = fitted()
    rng = [np.random.default_rng(0) for _ in range(2)]
    before = AuxiliaryGain(fit, None, rng[0]).table(0)
    b, c = 1 + np.array(divmod(int(before[1:, 1:].argmax()), N - 1))
    often = sm.Comparisons.from_triplets([(0, b, c)] * 20, n_items=N)
    after = AuxiliaryGain(fit, often, rng[1]).table(0)
    assert after[b, c] < 0.95 * before[b, c]
    assert before.min() >= 0
    assert np.array_equal(before, before.T)


def test_a_round_for_tackl():
    fit, c = fitted(), answers()
    tables = [sm.next_questions(fit, N, strategy="atackl", asked=c, random_share=0.0, random_state=seed)
              for seed in (1, 1, 2)]  # fmt: skip
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])
    assert (tables[0].score > 0).all()
    for form, width in (("odd_one_out", 3), ("choice", 5)):
        table = sm.next_questions(fit, 4, strategy="atackl", form=form, asked=c, random_state=0)
        assert {len(shown) for shown in table.shown} == {width}


def test_weights_of_nothing_leave_the_free_part():
    fit = fitted(weight_penalty=1e6)
    assert fit.weights_["features"].max() == 0
    assert sm.next_questions(fit, 3, strategy="atackl", asked=answers(), random_state=0).score.notna().any()


def test_other_models_are_refused():
    c = answers()
    plain = sm.CKL(2, random_state=0).fit(c)
    with pytest.raises(ValueError, match=r"'atackl' samples the weights.*needs the fitted TACKL itself, found a CKL"):
        sm.next_questions(plain, 3, strategy="atackl", asked=c)
    with pytest.raises(ValueError, match="found a Similarity, which holds no features"):
        sm.next_questions(fitted().similarity_, 3, strategy="atackl", asked=c)
    with pytest.raises(ValueError, match="'atackl' is about the position of a head"):
        sm.next_questions(fitted(), 3, strategy="atackl", form="quadruplet", asked=c)


def test_a_replay_with_features():
    truth = FEATURES * [1.5, 0.3]
    curves = sm.active_curve(
        sm.TACKL(1), truth, features=FEATURES, strategies=("random", "atackl", "information_gain"), rounds=4,
        n_repeats=1, sharpness=3.0, random_state=0,
    )  # fmt: skip
    assert len(curves) == 12
    assert (curves[curves.answers == 4 * N].error < 0.3).all()
    plain = sm.active_curve(sm.CKL(2), truth, features=FEATURES, strategies=("random",), rounds=2, n_repeats=1,
                            sharpness=3.0, random_state=0)  # fmt: skip
    assert len(plain) == 2
    with pytest.raises(TypeError, match="features: found none"):
        sm.active_curve(sm.TACKL(1), truth, rounds=2, n_repeats=1)
