"""ERKLE: its steps against the formulas, Theorem 3, the bound, and the ways it is read."""

import numpy as np
import pytest
from scipy import linalg

import similitude as sm
from similitude.engine import stepped_kernel
from similitude.engine.online import kernel_step
from similitude.methods.online import erkle
from similitude.methods.online.base import shape_code

VARIANTS = [
    {},
    {"gradient": "symmetric"},
    {"loss": "logistic"},
    {"loss": "logistic", "target_probability": 0.9},
    {"step": "constant", "rate": 0.1},
    {"loss": "logistic", "step": "constant"},
    {"loss": "logistic", "step": "sqrt", "gradient": "symmetric"},
    {"step": "inverse", "rate": 0.2},
    {"passes": 3},
]
names = [", ".join(f"{k}={v}" for k, v in variant.items()) or "default" for variant in VARIANTS]
every_variant = pytest.mark.parametrize("settings", VARIANTS, ids=names)


def answers(n_items=12, m=150, seed=0, **settings):
    truth = np.random.default_rng(seed).normal(size=(n_items, 3))
    return sm.simulate(truth, m, random_state=seed + 1, **settings)


def gradient(row, n, printed):
    """(5.2), or the gradient of d2(near) - d2(far) over symmetric kernels."""
    i, j, k, l = row
    near, far = np.zeros(n), np.zeros(n)
    near[i], near[j] = 1, -1
    far[k], far[l] = 1, -1
    G = np.outer(near, near) - np.outer(far, far)
    return np.where(np.eye(n, dtype=bool), G, 2 * G) if printed else G


def margin(K, row):
    i, j, k, l = row
    return K[k, k] + K[l, l] - 2 * K[k, l] - (K[i, i] + K[j, j] - 2 * K[i, j])


def small_kernel(rank, n=8, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, rank))
    return 0.3 * (X @ X.T)


@pytest.mark.parametrize(
    ("printed", "row", "size", "reach"),
    [
        (True, (0, 1, 0, 2), 10, 3),
        (False, (0, 1, 0, 2), 6, np.sqrt(3)),
        (False, (0, 1, 2, 3), 8, 2),
    ],
)
def test_what_a_step_does(printed, row, size, reach):
    """The step is -gamma G, the margin moves by its size, and G reaches as far as Weyl's bound takes it to."""
    K = small_kernel(8)
    G = gradient(row, 8, printed)
    moved, target = K.copy(), margin(K, row) + 3.0
    before, gamma = kernel_step(
        moved, np.array(row, np.int32), 1.0, 2.0 if printed else 1.0, size, True, False, target, 0.0
    )
    assert before == pytest.approx(margin(K, row))
    np.testing.assert_allclose(moved, K - gamma * G, atol=1e-12)
    assert margin(moved, row) == pytest.approx(target)
    assert np.array_equal(moved, moved.T)
    assert margin(K - G, row) - margin(K, row) == pytest.approx(size)
    values = linalg.eigvalsh(-G)
    assert values[0] == pytest.approx(-reach)
    assert (values < -1e-12).sum() == 1


def test_the_symmetric_gradient_is_the_derivative_and_its_step_changes_the_kernel_least():
    row, K = (0, 1, 0, 2), small_kernel(8)
    S = np.random.default_rng(1).normal(size=(8, 8))
    S += S.T
    slope = (margin(K - 1e-6 * S, row) - margin(K + 1e-6 * S, row)) / 2e-6
    assert slope == pytest.approx((gradient(row, 8, printed=False) * S).sum(), rel=1e-6)
    assert slope != pytest.approx((gradient(row, 8, printed=True) * S).sum(), rel=1e-5)
    change = [np.linalg.norm(gradient(row, 8, printed)) / size for printed, size in ((False, 6), (True, 10))]
    assert change[0] < change[1]


@pytest.mark.parametrize(("loss", "expected"), [("hinge", 0.05), ("logistic", 0.05 / (1 + np.exp(-2.0)))])
def test_gradient_steps_weigh_as_the_loss_does(loss, expected):
    """(5.5) as it is meant: the hinge acts below its margin, and not above; the logistic step is rate · P(wrong)."""
    K = np.eye(3)
    K[0, 1] = K[1, 0] = -0.5
    K[0, 2] = K[2, 0] = 0.5
    row = np.array([0, 1, 0, 2], np.int32)
    assert margin(K, row) == -2.0
    found, gamma = kernel_step(K.copy(), row, 1.0, 2.0, 10.0, False, shape_code(loss), 1.0, 0.05)
    assert found == -2.0
    assert gamma == pytest.approx(expected)
    met = kernel_step(K.copy(), row[[0, 3, 2, 1]], 1.0, 2.0, 10.0, False, shape_code("hinge"), 1.0, 0.05)
    assert met == (2.0, 0.0)


@every_variant
def test_positive_semidefinite_after_every_step_and_the_bound_is_never_wrong(settings):
    model = sm.ERKLE(n_items=12, random_state=0, **settings)
    for row in answers().triplets:
        model.partial_fit(row[None])
        least = linalg.eigvalsh(model._kernel)[0]
        assert least >= -1e-7
        assert model._bound[0] <= least + 1e-7
    assert model.n_updates_ == model.n_projections_ + model.n_skipped_


@pytest.mark.own_seed  # a constant step may need every projection
@every_variant
def test_some_projections_are_spared_and_some_are_not(settings):
    model = sm.ERKLE(n_items=12, random_state=0, **settings).fit(answers())
    assert model.n_skipped_ > 0
    assert model.n_projections_ > 0


@pytest.mark.parametrize(
    "settings", [{}, {"gradient": "symmetric"}, {"loss": "logistic", "step": "constant"}, {"passes": 4}]
)
def test_the_inverse_beside_the_kernel_finds_what_lapack_finds(monkeypatch, settings):
    """At 1e-8 an eigenpair and 250 to 1,000 of them; renewing the inverse in between makes no difference."""
    c = answers(40, 250)
    by_lapack = sm.ERKLE(n_items=40, random_state=0, **settings).fit(c)
    monkeypatch.setattr(stepped_kernel, "WORTH_FROM", 0)
    monkeypatch.setattr(erkle, "RENEW", 60)
    model = sm.ERKLE(n_items=40, random_state=0, **settings)
    for row in c.triplets:
        model.partial_fit(row[None])
        least = linalg.eigvalsh(model._kernel)[0]
        assert least >= -1e-7
        assert model._bound[0] <= least + 1e-7
    assert len(by_lapack._inverse) == 0
    assert np.array_equal(model._inverse, model._inverse.T)
    np.testing.assert_allclose(
        model._inverse @ (model._kernel + stepped_kernel.SHIFT * np.eye(40)), np.eye(40), atol=1e-6
    )
    np.testing.assert_allclose(model.kernel_, by_lapack.kernel_, atol=1e-5)
    assert model.n_projections_ > 50
    assert model.n_updates_ == model.n_projections_ + model.n_skipped_


def test_a_stream_with_an_inverse_is_cut_and_saved_bit_for_bit(monkeypatch, tmp_path):
    monkeypatch.setattr(stepped_kernel, "WORTH_FROM", 0)
    c = answers()
    whole = sm.ERKLE(n_items=12).partial_fit(c)
    parts = sm.ERKLE(n_items=12)
    for row in c.triplets[:100]:
        parts.partial_fit(row[None])
    assert len(parts._inverse) == 12
    parts.save(tmp_path / "state")
    parts = sm.ERKLE.load(tmp_path / "state").partial_fit(c[100:])
    assert np.array_equal(whole.kernel_, parts.kernel_)
    assert np.array_equal(whole._inverse, parts._inverse)


@pytest.mark.parametrize("worth_from", [0, 16, 1000])
def test_items_join_a_kernel_and_its_inverse(monkeypatch, worth_from):
    monkeypatch.setattr(stepped_kernel, "WORTH_FROM", worth_from)
    c = answers(20, 300)
    few = c.triplets[(c.triplets < 12).all(1)]
    model = sm.ERKLE(n_items=12, grow=True).partial_fit(few).partial_fit(c)
    assert model.kernel_.shape == (20, 20)
    assert len(model._inverse) == (0 if worth_from == 1000 else 20)
    start = np.eye(20)
    start[:12, :12] = sm.ERKLE(n_items=12).partial_fit(few).kernel_
    np.testing.assert_allclose(model.kernel_, sm.ERKLE(init_kernel=start).partial_fit(c).kernel_, atol=1e-5)


def test_a_state_of_an_earlier_version_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(stepped_kernel, "WORTH_FROM", 0)
    c = answers()
    model = sm.ERKLE(n_items=12).partial_fit(c[:100])
    model.save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as stored:
        np.savez(tmp_path / "old.npz", **{name: stored[name] for name in stored if name != "_inverse"})
    old = sm.ERKLE.load(tmp_path / "old.npz").partial_fit(c[100:])
    np.testing.assert_allclose(old.kernel_, model.partial_fit(c[100:]).kernel_, atol=1e-5)


def test_an_eigenpair_that_is_not_found_is_lapacks(monkeypatch):
    c = answers(40, 250)
    by_lapack = sm.ERKLE(n_items=40).fit(c)
    monkeypatch.setattr(stepped_kernel, "WORTH_FROM", 0)
    monkeypatch.setattr(erkle, "eigenpair_below", lambda K, *_: (0.0, np.zeros(len(K)), False))
    np.testing.assert_allclose(sm.ERKLE(n_items=40).fit(c).kernel_, by_lapack.kernel_, atol=1e-9)


@pytest.mark.parametrize("rank", [2, 5, 8])
@pytest.mark.parametrize("settings", [{}, {"gradient": "symmetric"}], ids=["printed", "symmetric"])
def test_one_eigenpair_is_the_whole_projection(rank, settings):
    """Theorem 3, on kernels of any rank and answers of any kind."""
    rng = np.random.default_rng(rank)
    projected = 0
    for trial in range(60):
        K = small_kernel(rank, seed=trial)
        row = rng.permutation(8)[:3]
        if margin(K, (row[0], row[1], row[0], row[2])) >= 1:
            row = row[[0, 2, 1]]
        model = sm.ERKLE(init_kernel=K, n_items=8, **settings).partial_fit(row[None])
        quad = (row[0], row[1], row[0], row[2])
        size = 10 if settings == {} else 6
        stepped = K - max(0.0, 1 - margin(K, quad)) / size * gradient(quad, 8, printed=settings == {})
        values, vectors = linalg.eigh(stepped)
        assert (values < -1e-10).sum() <= 1
        projected += values[0] < -1e-3
        np.testing.assert_allclose(model.kernel_, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-8)
    assert projected > 10


def test_comparisons_without_a_head():
    truth = np.random.default_rng(0).normal(size=(10, 2))
    c = sm.simulate(truth, 1500, form="quadruplet", random_state=1)
    model = sm.ERKLE(gradient="symmetric").fit(c)
    assert linalg.eigvalsh(model.kernel_)[0] >= -1e-7
    assert model.score(c) > 0.85
    with pytest.raises(ValueError, match="has no head, and the printed gradient is for triplets"):
        sm.ERKLE().fit(c)
    begun = sm.ERKLE(grow=True, n_items=4).partial_fit([(0, 1, 2)])
    with pytest.raises(ValueError, match="has no head"):
        begun.partial_fit([(0, 1, 8, 9)])
    assert begun.n_items_ == 4


def test_a_margin_met_is_left_alone():
    K = np.diag([0.0, 1.0, 5.0])
    model = sm.ERKLE(init_kernel=K).partial_fit([(0, 1, 2)])
    assert np.array_equal(model.kernel_, K)
    assert model.n_updates_ == 0


def test_target_probability_is_reached_before_the_projection():
    model = sm.ERKLE(loss="logistic", target_probability=0.8, n_items=5).partial_fit([(0, 1, 2)])
    assert model.n_skipped_ == 1
    assert 1 / (1 + np.exp(-margin(model.kernel_, (0, 1, 0, 2)))) == pytest.approx(0.8)
    hinge = sm.ERKLE(n_items=5).partial_fit([(0, 1, 2)])
    at_one = sm.ERKLE(loss="logistic", target_probability=np.e / (1 + np.e), n_items=5).partial_fit([(0, 1, 2)])
    np.testing.assert_allclose(at_one.kernel_, hinge.kernel_)


def test_projecting_seldom_counts_answers_across_calls():
    c = answers(m=100)
    whole = sm.ERKLE(project_every=7).fit(c)
    parts = sm.ERKLE(project_every=7, n_items=12)
    for row in c.triplets:
        parts.partial_fit(row[None])
        assert linalg.eigvalsh(parts.kernel_)[0] >= -1e-9
    assert np.array_equal(whole.kernel_, parts.kernel_)
    assert 0 < whole.n_projections_ <= 100 // 7
    assert whole.kernel_ is not whole._kernel


def test_more_passes_learn_more():
    gains = []
    for seed in range(3):
        c, unseen = answers(30, 600, seed=seed), answers(30, 4000, seed=seed).select(np.arange(2000, 4000))
        once, often = (sm.ERKLE(passes=passes, random_state=0).fit(c) for passes in (1, 10))
        assert often.n_updates_ > once.n_updates_
        gains.append(often.score(unseen) - once.score(unseen))
    assert np.mean(gains) > 0  # .032 ± .009 each


def test_the_kernel_and_the_positions_agree():
    model = sm.ERKLE().fit(answers())
    K = model.kernel_
    d2 = np.diag(K)[:, None] + np.diag(K) - 2 * K
    np.testing.assert_allclose(model.distances() ** 2, model.slope_ * d2, atol=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "ckl"}, "loss: expected one of hinge, logistic"),
        ({"step": "far"}, "step: expected"),
        ({"gradient": "right"}, "gradient: expected"),
        ({"passes": 0}, "passes: expected"),
        ({"project_every": 0.5}, "project_every: expected"),
        ({"rate": 0.0}, "rate: expected"),
        ({"loss": "logistic", "target_probability": 0.4}, "target_probability: expected a number between"),
        ({"target_probability": 0.8}, "target_probability: expected None unless"),
        ({"init_kernel": np.eye(3)}, r"init_kernel: expected .* \(12, 12\), found shape \(3, 3\)"),
        ({"init_kernel": np.arange(144.0).reshape(12, 12)}, "init_kernel: expected a symmetric"),
        ({"init_kernel": np.full((12, 12), np.nan)}, "init_kernel: expected finite"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        sm.ERKLE(**settings).fit(answers())


def test_a_start_that_is_no_kernel_is_projected():
    K = np.diag([1.0, 2.0, -1.0])
    np.testing.assert_allclose(
        sm.ERKLE(init_kernel=K, n_items=3).partial_fit(np.empty((0, 3), int)).kernel_, np.diag([1.0, 2.0, 0.0])
    )
