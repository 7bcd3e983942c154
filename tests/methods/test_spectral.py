"""The spectral kernel: the closed form, landmarks, labels as links, and what it makes of XOR."""

from functools import partial

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils.estimator_checks import check_estimator

import similitude as sm
from similitude.methods import landmark_maps, spectral
from similitude.methods.held_out_links import ITERATIONS, best_by_links, nearness, togetherness
from similitude.methods.landmark_maps import linear_weights
from similitude.methods.linked_spread import ByClasses, ByLinks, HeldOutLinks
from similitude.methods.spectral import printed_lengths


def bent(*arguments, **settings):
    """A kernel bent by a quarter unless told otherwise: nothing is chosen."""
    return sm.SpectralKernel(*arguments, **({"strength": 0.25} | settings))


def xor(n, rng, spread=0.2):
    corner = rng.integers(0, 4, n)
    return np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[corner] + spread * rng.normal(size=(n, 2)), corner // 2


def similar_links(classes, count, rng):
    pairs = rng.integers(0, len(classes), (40 * count, 2))
    good = (pairs[:, 0] != pairs[:, 1]) & (classes[pairs[:, 0]] == classes[pairs[:, 1]])
    return sm.Links.from_pairs(similar=pairs[good][:count], n_items=len(classes))


@pytest.fixture
def problem(rng):
    X, classes = xor(60, rng)
    return X, classes, similar_links(classes, 25, rng)


def links_graph(links):
    return coo_array((np.ones(len(links)), tuple(links.pairs.T)), (links.n_items, links.n_items))


def decomposed(X):
    """The centred RBF kernel of median width as eigenvalues and eigenvectors, largest first."""
    distances = euclidean_distances(X)
    width = np.median(distances[np.triu_indices(len(X), 1)])
    H = np.eye(len(X)) - 1 / len(X)
    values, vectors = np.linalg.eigh(H @ rbf_kernel(X, gamma=0.5 / width**2) @ H)
    kept = np.flatnonzero(values > 1e-10 * values[-1])[::-1]
    return values[kept], vectors[:, kept]


def test_the_printed_form_is_the_minimiser_of_equation_3(problem):
    X, _, links = problem
    model = bent(robust=False).fit(X, links)
    D, c = model.spread_, np.sqrt(model.spectrum_).sum()
    scaled = D / D.max()
    found = optimize.minimize(
        lambda b: (b**2 * scaled).sum(),
        np.full(len(D), c / len(D)),
        jac=lambda b: 2 * b * scaled,
        constraints={"type": "eq", "fun": lambda b: b.sum() - c, "jac": np.ones_like},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-16},
    )
    np.testing.assert_allclose(model.lengths_.sum(), c)
    np.testing.assert_allclose((model.lengths_**2 * D).sum(), found.fun * D.max(), rtol=1e-6)
    np.testing.assert_allclose(model.lengths_, found.x, rtol=1e-3, atol=1e-3 * model.lengths_.max())


def test_the_exact_version_is_the_formula_on_the_eigenvectors(problem):
    X, _, links = problem
    values, vectors = decomposed(X)
    D = np.mean([(vectors[i] - vectors[j]) ** 2 for i, j in links.pairs], axis=0)
    printed = bent(robust=False, n_iter=1).fit(X, links)
    well = values > 1e-6 * values[0]  # beyond, eigenvectors are rounding
    np.testing.assert_allclose(printed.spread_[well], D[well], rtol=1e-5)
    robust = bent(strength=0.5, n_iter=3).fit(X, links)
    told = (
        len(np.unique(links.pairs)) - connected_components(links_graph(links))[0] + (60 - len(np.unique(links.pairs)))
    )
    ratio = (told * D / (2 / 59) + 5) / (told + 5)
    beta = np.sqrt(values) * ratio**-1.5
    beta *= np.sqrt(values).sum() / beta.sum()
    np.testing.assert_allclose(robust.lengths_[well], beta[well], rtol=1e-5)
    np.testing.assert_allclose(
        robust.kernel_, (vectors * beta**2) @ vectors.T, atol=1e-6 * np.abs(robust.kernel_).max()
    )


def test_strength_0_is_the_kernel_itself(problem):
    X, _, links = problem
    values, vectors = decomposed(X)
    np.testing.assert_allclose(bent(strength=0.0).fit(X, links).kernel_, (vectors * values) @ vectors.T, atol=1e-8)


def test_few_links_move_lengths_less_than_many_of_the_same_kind(problem):
    X, _, links = problem
    once = bent().fit(X, links[:1])
    D, before = once.spread_, np.sqrt(once.spectrum_)
    stretch = once.lengths_ / before * before.sum() / (before * ((D * 59 / 2 + 5) / 6) ** -0.25).sum()
    assert stretch.max() / stretch.min() < (1 + (D * 59 / 2).max() / 5) ** 0.25 + 1e-9  # one link tells one difference
    assert (once.lengths_ > 0).all()


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("landmark_map", ["nystroem", "lle"])
def test_all_points_as_landmarks_give_the_exact_version(problem, landmark_map, robust):
    X, _, links = problem
    exact = bent(robust=robust).fit(X, links)
    landmark = bent(n_landmarks=len(X), landmark_map=landmark_map, robust=robust).fit(X, links)
    size = np.abs(exact.kernel_).max()
    np.testing.assert_allclose(landmark.kernel_ / size, exact.kernel_ / size, atol=1e-6)


@pytest.mark.parametrize("landmark_map", ["nystroem", "lle"])
def test_a_landmark_transforms_to_itself(problem, landmark_map):
    X, _, links = problem
    model = bent(n_landmarks=50, landmark_map=landmark_map, random_state=0).fit(X, links)
    assert set(np.unique(links.pairs)) <= set(model.landmarks_)
    own = model._directions.landmarks[:, : len(model.lengths_)] * model.lengths_
    np.testing.assert_allclose(model.transform(X[model.landmarks_]), own, atol=1e-9)
    np.testing.assert_allclose(model.embedding_[model.landmarks_], own, atol=1e-9)


@pytest.mark.parametrize("landmark_map", ["nystroem", "lle"])
def test_new_points_are_placed_as_training_points_and_near_their_like(rng, landmark_map):
    X, classes = xor(300, rng)
    links = similar_links(classes, 40, rng)
    model = bent(n_landmarks=90, landmark_map=landmark_map, strength=2.0, random_state=0).fit(X, links)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.distance(X[:5], X)[:, :5], model.distance(X[:5]), atol=1e-6)
    new, kinds = xor(200, rng)
    nearest = model.distance(new, X).argmin(1)
    assert (classes[nearest] == kinds).mean() > 0.98
    assert sm.separation(model.distance(new), kinds) > 1.2 * sm.separation(euclidean_distances(new), kinds)  # 1.9 to 5


@pytest.mark.slow
@pytest.mark.parametrize("landmark_map", ["nystroem", "lle"])
def test_xor_with_few_links_is_parted_twice_as_well(landmark_map):
    found = []
    for draw in range(10):
        rng = np.random.default_rng(draw)
        X, classes = xor(600, rng)
        links = similar_links(classes, 50, rng)
        settings = {"landmark_map": landmark_map, "strength": 2.0, "random_state": draw}
        model = bent(n_landmarks=100, **settings).fit(X, links)
        rbf = np.sqrt(np.maximum(2 - 2 * sm.kernels.RBF(X).matrix(), 0))
        found.append([sm.separation(model.distance(X), classes), sm.separation(rbf, classes)])
    learned, before = np.mean(found, axis=0)
    assert learned >= 2 * before


@pytest.mark.slow
def test_the_printed_form_rewards_noise_and_the_robust_one_does_not():
    noisy, parted = [], []
    for draw in range(200, 210):
        rng = np.random.default_rng(draw)
        X, classes = xor(200, rng)
        X = np.c_[X, rng.normal(size=(200, 2))]  # two features of noise
        links = similar_links(classes, 20, rng)
        printed, robust = (bent(robust=flag, strength=3.0).fit(X, links) for flag in (False, True))
        energy = printed.lengths_**2 / (printed.lengths_**2).sum()
        beyond = np.cumsum(printed.spectrum_) > 0.99 * printed.spectrum_.sum()
        noisy.append(energy[beyond].sum())
        parted.append([sm.separation(model.distance(X), classes) for model in (robust, printed)])
    assert np.mean(noisy) > 0.7  # most of the learned lengths lie where 1 % of the kernel was: .85 ± .07 of them, / √10
    learned, as_printed = np.array(parted).T
    assert np.log(learned / as_printed).mean() > 0.05  # .38 ± .25, / √10


def test_labels_are_the_links_of_all_pairs_of_a_class(rng):
    X, classes = xor(80, rng)
    y = np.full(80, -1)
    known = rng.permutation(80)[:20]
    y[known] = classes[known]
    links = sm.Links.from_labels(known, classes[known], n_items=80)
    for weight in (0.0, 1.0):
        by_labels, by_links = (bent(dissimilar=weight).fit(X, given) for given in (y, links))
        np.testing.assert_allclose(by_labels.lengths_, by_links.lengths_, rtol=1e-8)
    U = rng.normal(size=(20, 3))
    ours = ByClasses(np.sort(known), classes[np.sort(known)])
    np.testing.assert_allclose(ours.similar(U), ByLinks(links).similar(U))
    np.testing.assert_allclose(ours.dissimilar(U), ByLinks(links).dissimilar(U))


def test_weight_two_is_the_link_twice(problem):
    X, _, links = problem
    heavy = sm.Links.of(links.pairs, links.similar, weight=np.r_[2.0, np.ones(24)], n_items=60)
    twice = sm.Links.of(np.r_[links.pairs[:1], links.pairs], np.ones(26, bool), n_items=60)
    one, two = (bent().fit(X, given) for given in (heavy, twice))
    np.testing.assert_allclose(one.lengths_, two.lengths_, rtol=1e-10)


def test_dissimilar_links_count_only_where_asked_for_and_then_help(rng):
    gains = []
    for draw in range(12):
        X, classes = xor(200, rng)
        X = np.c_[X, 1.5 * rng.normal(size=(200, 2))]  # two features of noise
        links = sm.Links.from_labels(np.arange(200), classes, n_links=60, random_state=draw)
        without = bent().fit(X, links)
        similar_alone = bent().fit(X, links[links.similar])  # in other blocks, so the last bits may differ
        np.testing.assert_allclose(without.lengths_, similar_alone.lengths_, rtol=1e-6, atol=1e-12)
        both = bent(dissimilar=1.0).fit(X, links)
        gains.append(sm.separation(both.distance(X), classes) - sm.separation(without.distance(X), classes))
    assert np.mean(gains) > 0  # .006 ± .004 of a draw, / √12


@pytest.mark.parametrize("landmark_map", ["nystroem", "lle"])
def test_with_landmarks_every_item_costs_the_same_and_never_n_by_n(monkeypatch, landmark_map):
    asked = []

    class Counted(sm.kernels.RBF):
        def matrix(self):
            asked.append(self.n_items**2)
            return super().matrix()

        def cross(self, new):
            asked.append(len(new) * self.n_items)
            return super().cross(new)

    monkeypatch.setattr(landmark_maps, "_BLOCK_NUMBERS", 4_000)
    values = []
    for n in (400, 800, 1600):
        X = np.random.default_rng(0).normal(size=(n, 2))
        links = sm.Links.from_pairs(similar=np.arange(40).reshape(20, 2), n_items=n)
        asked.clear()
        bent(Counted, 60, landmark_map=landmark_map, random_state=0).fit(X, links)
        values.append(sum(asked))
        assert max(asked) <= 4_000  # a block, however many items
    assert values[1] - values[0] == 400 * 60  # a kernel value per item and landmark, nothing else grows
    assert values[2] - values[1] == 800 * 60


def test_locally_linear_weights_solve_their_problem(rng):
    landmarks = rng.normal(size=(30, 3))
    places = rng.normal(size=(5, 3))
    nearest, weights = linear_weights(places, landmarks, 3)
    np.testing.assert_allclose(weights.sum(1), 1.0)
    for place, near, own in zip(places, nearest, weights, strict=True):
        assert set(near) == set(np.argsort(((landmarks - place) ** 2).sum(1))[:3])
        G = (place - landmarks[near]) @ (place - landmarks[near]).T
        G += 1e-3 * np.trace(G) / 3 * np.eye(3)
        best = np.linalg.solve(G, np.ones(3))
        np.testing.assert_allclose(own, best / best.sum(), rtol=1e-6)


def test_a_direction_without_spread_stays_finite():
    assert np.isfinite(printed_lengths(np.array([0.0, 1.0, 2.0]))).all()
    np.testing.assert_array_equal(printed_lengths(np.zeros(2)), np.ones(2))


def noisy_xor(rng):
    X, classes = xor(200, rng)
    return np.c_[X, rng.normal(size=(200, 2))], classes


def test_by_default_the_kernel_is_bent_where_held_out_links_show_a_gain(rng):
    X, classes = xor(200, rng)  # gains of 100 links are four standard errors and more here
    links = similar_links(classes, 100, rng)
    model = sm.SpectralKernel(random_state=0).fit(X, links)
    assert model.strength_ in (0.25, 0.5, 1.0)
    assert sm.separation(model.distance(X), classes) > sm.separation(euclidean_distances(X), classes)
    again = sm.SpectralKernel(strength=0.5, n_iter="auto", random_state=0).fit(X, links)
    assert again.strength_ == 0.5
    assert again.n_iter_ in ITERATIONS


def test_what_is_held_out_of_classes_is_not_learned_from_and_asked_for_its_class(rng):
    items, code = np.sort(rng.permutation(100)[:30]), rng.integers(0, 3, 30)
    folds = list(ByClasses(items, code).folds(5, np.arange(100), np.random.RandomState(0)))
    assert sorted(np.concatenate([fold.asked for fold in folds])) == items.tolist()
    for fold in folds:
        assert not set(fold.asked) & set(fold.rest.items)
        own, others = (code[np.searchsorted(items, rows)] for rows in (fold.asked, fold.others))
        np.testing.assert_array_equal(fold.right, own[:, None] == others)
        np.testing.assert_array_equal(fold.rival, own[:, None] != others)


def test_a_held_out_link_is_asked_for_from_both_ends_among_a_crowd(rng):
    links, crowd = similar_links(rng.integers(0, 2, 100), 20, rng), np.arange(0, 100, 2)
    for fold in ByLinks(links).folds(5, crowd, np.random.RandomState(0)):
        assert len(fold.rest.links) == 16
        partner = fold.others[fold.right.argmax(1)]
        assert (fold.right.sum(1) == 1).all()
        np.testing.assert_array_equal(fold.asked.reshape(-1, 2), partner.reshape(-1, 2)[:, ::-1])
        for k, row in enumerate(fold.asked):
            assert set(fold.others[fold.rival[k]]) == set(crowd) - {row, partner[k]}


@pytest.mark.slow
def test_links_that_tell_nothing_leave_the_features_as_they_are(rng):
    X, _ = noisy_xor(rng)
    told = (similar_links(rng.integers(0, 2, 200), 60, rng) for _ in range(20))
    fits = [sm.SpectralKernel(random_state=0).fit(X, links) for links in told]
    left = [model for model in fits if model.strength_ is None]
    assert len(left) >= 12  # 53 of sixty other draws, so 17.7 ± 1.4 of twenty: a gain of two standard errors is chance
    model = left[0]
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.embedding_, X - X.mean(0), atol=1e-12)
    new = rng.normal(size=(5, 4))
    np.testing.assert_allclose(model.distance(new, X), euclidean_distances(new, X), atol=1e-6)
    np.testing.assert_allclose(model.transform(X), model.embedding_)


def test_too_few_links_to_hold_some_out_leave_the_features_as_they_are(rng):
    X, _ = noisy_xor(rng)
    assert sm.SpectralKernel().fit(X, sm.Links.from_pairs(similar=[(0, 1)], n_items=200)).strength_ is None
    assert sm.SpectralKernel().fit(X, np.r_[0, 0, np.full(198, -1)]).strength_ is None


def test_a_gain_within_its_error_is_none():
    rows = [np.arange(4), np.arange(4, 9), np.eye(4, 5, dtype=bool), ~np.eye(4, 5, dtype=bool)]
    held_out = HeldOutLinks(ByClasses(np.arange(2), np.zeros(2, int)), *rows)
    truth = np.r_[np.arange(4.0), np.arange(5.0)][:, None]  # each stands on its like

    def chosen(places):
        return best_by_links([held_out], list(places), lambda _, option, rows: places[option][rows], [nearness])

    worse = truth[[0, 1, 2, 3, 8, 7, 6, 5, 4]]
    assert chosen({"first": worse, "other": truth}) == "other"
    assert chosen({"first": truth, "other": worse}) == "first"
    assert chosen({"first": worse, "as bad": worse, "next": truth, "further": truth}) == "next"
    assert chosen({"first": worse, "same": worse + 7.0}) == "first"
    one_better = worse.copy()
    one_better[4] = 0.0  # the first alone has its like at its place
    assert chosen({"first": worse, "other": one_better}) == "first"


def test_nearness_is_the_logarithm_of_the_rank_of_the_nearest_like(rng):
    places = rng.normal(size=(30, 2))
    asked, others = np.arange(6), np.arange(6, 30)
    right = rng.random((6, 24)) < 0.2
    right[:, 0] = True
    rival = ~right & (rng.random((6, 24)) < 0.8)
    held_out = HeldOutLinks(ByClasses(asked, asked), asked, others, right, rival, each=2)
    found = nearness(held_out, lambda rows: places[rows])
    D = euclidean_distances(places)
    ranks = [1 + sum(D[i, j] < D[i, others[right[i]]].min() for j in others[rival[i]]) for i in asked]
    np.testing.assert_allclose(found, -np.log(ranks).reshape(3, 2).mean(1, keepdims=True))


def linked_halves(rng, links=20):
    """Two heaps of 40 rows, links within each and where they lie; a crowd of all rows."""
    where = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 12.0]
    asked = np.concatenate([rng.permutation(40)[:links], 40 + rng.permutation(40)[:links]])
    partner = asked.reshape(-1, 2)[:, ::-1].ravel()
    right = np.arange(80) == partner[:, None]
    rival = ~right & (np.arange(80) != asked[:, None])
    return HeldOutLinks(ByLinks(similar_links(np.zeros(80, int), 1, rng)), asked, np.arange(80), right, rival, 2), where


def test_togetherness_is_that_both_ends_stay_in_one_cluster_beside_chance(rng):
    held_out, where = linked_halves(rng)
    two = togetherness(held_out, lambda rows: where[rows])[:, 0]
    np.testing.assert_allclose(two, 0.5)  # always together, and half of all pairs are
    mixed = where[rng.permutation(80)]
    assert abs(togetherness(held_out, lambda rows: mixed[rows]).mean()) < 0.4  # 20 links, a standard error of 0.1


@pytest.mark.own_seed  # a set on which the two proofs disagree
def test_a_bend_that_gains_neighbours_and_parts_clusters_is_not_taken(rng):
    held_out, where = linked_halves(rng)
    ends = held_out.asked.reshape(-1, 2)
    parted = where.copy()  # some ends come close to each other, the others go to the far heap
    parted[ends[:12, 1]] = parted[ends[:12, 0]]
    parted[ends[12:, 1]] -= 24.0 * (ends[12:, 1] >= 40)[:, None] - 12.0
    options = {"plain": where, "bent": parted}

    def chosen(*proofs):
        return best_by_links([held_out], list(options), lambda _, option, rows: options[option][rows], proofs)

    assert chosen(nearness) == "bent"
    assert chosen(togetherness) == chosen(nearness, togetherness) == "plain"


def test_all_of_few_items_are_landmarks_by_default_and_some_of_many(rng, monkeypatch):
    X, classes = xor(90, rng)
    links = similar_links(classes, 20, rng)
    assert len(sm.SpectralKernel().fit(X, links).landmarks_) == 90
    monkeypatch.setattr(spectral, "MOST_EXACT", 80)
    monkeypatch.setattr(spectral, "MANY", 60)
    assert len(sm.SpectralKernel().fit(X, links).landmarks_) == 60
    assert len(sm.SpectralKernel(n_landmarks=None).fit(X, links).landmarks_) == 90


def test_landmarks_by_k_means_are_spread_over_the_items(rng):
    crowd = 0.01 * rng.normal(size=(180, 2))
    X = np.concatenate([crowd, rng.normal(size=(20, 2)) + 5])
    links = sm.Links.from_pairs(similar=[(0, 1)], n_items=200)
    model = bent(n_landmarks=12, landmarks="kmeans", random_state=0).fit(X, links)
    assert {0, 1} <= set(model.landmarks_)
    assert len(model.landmarks_) <= 12
    assert (model.landmarks_ >= 180).sum() >= 6  # at random one in ten would be there


def test_the_papers_form_is_one_argument(problem):
    X, _, links = problem
    short = bent(n_landmarks=55, robust=False, random_state=0).fit(X, links)
    long = bent(n_landmarks=55, robust=False, landmark_map="lle", n_iter=3, random_state=0).fit(X, links)
    np.testing.assert_array_equal(short.embedding_, long.embedding_)
    assert short.n_iter_ == 3
    assert bent().fit(X, links).n_iter_ == 1


def test_kernels_of_the_room_serve(problem):
    X, _, links = problem
    wide = bent(partial(sm.kernels.RBF, width=3.0)).fit(X, links)
    assert len(wide.lengths_) < len(bent().fit(X, links).lengths_)
    assert bent("linear").fit(X, links).embedding_.shape == (60, 2)
    assert list(wide.get_feature_names_out()[:1]) == ["spectralkernel0"]


def test_units_of_the_features_do_not_matter_with_the_median_width(problem):
    X, _, links = problem
    one, other = (bent().fit(scale * X + shift, links) for scale, shift in ((1.0, 0.0), (100.0, 7.0)))
    np.testing.assert_allclose(one.kernel_, other.kernel_, atol=1e-6)


def test_more_linked_items_than_landmarks(rng):
    X, classes = xor(100, rng)
    model = bent(n_landmarks=20, random_state=0).fit(X, classes)
    assert len(model.landmarks_) == 20
    again = bent(n_landmarks=20, random_state=0).fit(X, classes)
    np.testing.assert_array_equal(model.embedding_, again.embedding_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("landmark_map", "strength"),
    [
        ("nystroem", "auto"),
        ("lle", 0.25),
        *(pytest.param(*other, marks=pytest.mark.whole) for other in (("nystroem", 0.25), ("lle", "auto"))),
    ],
)
def test_scikit_learn_accepts_it(landmark_map, strength):
    settings = {"n_landmarks": 8, "n_neighbors": 4, "random_state": 0}
    estimator = sm.SpectralKernel(landmark_map=landmark_map, strength=strength, **settings)
    check_estimator(estimator, on_skip=None)


class TestBadInput:
    def test_no_links(self, problem):
        with pytest.raises(ValueError, match="requires y to be passed"):
            bent().fit(problem[0])

    def test_only_dissimilar_links(self, problem):
        with pytest.raises(ValueError, match="found 1 dissimilar links and no similar one"):
            bent().fit(problem[0], sm.Links.from_pairs(dissimilar=[(0, 1)]))

    def test_a_link_of_a_point_with_itself(self):
        with pytest.raises(ValueError, match="link 1 is of item 3 with itself"):
            sm.Links.from_pairs(similar=[(0, 1), (3, 3)])

    def test_contradictory_links_are_named_and_count(self, problem):
        links = sm.Links.of([(0, 1), (1, 2), (0, 2)], [True, True, False], n_items=60)
        with pytest.warns(sm.FeedbackWarning, match=r"item 0 and item 2 are called dissimilar .link 2.*1 such in all"):
            bent().fit(problem[0], links)

    def test_links_to_rows_that_are_not_there(self, problem):
        with pytest.raises(ValueError, match="links among 100 items, expected at most 60"):
            bent().fit(problem[0], sm.Links.from_pairs(similar=[(0, 99)]))

    def test_labels_of_which_no_two_agree(self, problem):
        y = np.full(60, -1)
        y[:3] = [0, 1, 2]
        with pytest.raises(ValueError, match="found 3 labelled rows of X, no two of one class"):
            bent().fit(problem[0], y)

    def test_one_class_is_enough_for_similar_links(self, problem):
        y = np.full(60, -1)
        y[:5] = 1
        assert np.isfinite(bent(dissimilar=1.0).fit(problem[0], y).embedding_).all()

    def test_missing_values(self, problem):
        X = problem[0].copy()
        X[3, 1] = np.nan
        with pytest.raises(ValueError, match="contains NaN"):
            bent().fit(X, problem[2])

    def test_a_constant_feature_changes_nothing(self, problem):
        X, _, links = problem
        padded = bent().fit(np.c_[X, np.full(60, 5.0)], links)
        np.testing.assert_allclose(padded.lengths_, bent().fit(X, links).lengths_)

    def test_constant_features_throughout(self, problem):
        with pytest.raises(ValueError, match="features"):
            bent().fit(np.ones((60, 2)), problem[2])

    def test_linked_rows_that_are_equal(self, problem):
        X = problem[0].copy()
        X[1] = X[0]
        with pytest.raises(ValueError, match="all linked rows of X have the same features"):
            bent("linear").fit(X, sm.Links.from_pairs(similar=[(0, 1)], n_items=60))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"kernel": "sigmoid"}, "kernel: expected one of rbf.*found 'sigmoid'"),
            ({"landmark_map": "lda"}, "landmark_map: expected one of 'nystroem', 'lle', found 'lda'"),
            ({"n_landmarks": 1}, "n_landmarks: expected a whole number of at least 2, found 1"),
            ({"n_neighbors": 0}, "n_neighbors: expected a whole number of at least 1"),
            ({"n_iter": 1.5}, "n_iter: expected a whole number of at least 1, found 1.5"),
            ({"strength": "much"}, "strength: expected a number"),
            ({"landmarks": "first"}, "landmarks: expected one of 'random', 'kmeans', found 'first'"),
            ({"dissimilar": -1.0}, "dissimilar: expected a number of at least 0, found -1.0"),
        ],
    )
    def test_settings(self, problem, settings, message):
        with pytest.raises(ValueError, match=message):
            bent(**settings).fit(problem[0], problem[2])


@pytest.mark.parametrize("setting", ["strength", "dissimilar"])
def test_powers_that_would_overflow_are_refused(problem, setting):
    X, _, links = problem
    with pytest.raises(ValueError, match=f"{setting}: expected a number from 0 to 20"):
        bent(**{setting: 1e300}).fit(X, links)
    assert np.isfinite(bent(**{setting: 20.0}, n_iter=3).fit(X, links).embedding_).all()
