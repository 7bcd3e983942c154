import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster

import similitude as sm


def tree_of(n=12, k=3):
    classes = np.arange(n) % k
    X = np.random.default_rng(0).normal(size=(n, 2)) + 20 * np.eye(k, 2)[classes] + 9 * classes[:, None]
    return sm.kernel_linkage(X @ X.T), classes


def branches(axes):
    """Colour of each drawn line by collection."""
    return [tuple(np.round(line.get_color()[0], 3)) for line in axes.collections for _ in line.get_segments()]


def test_a_tree_shows_every_item_and_a_colour_per_cluster():
    tree, _ = tree_of()
    axes = sm.plot.dendrogram(tree, labels=[f"item {k}" for k in range(12)], n_clusters=3)
    assert {text.get_text() for text in axes.get_yticklabels()} == {f"item {k}" for k in range(12)}
    drawn = branches(axes)
    assert len(drawn) == 11
    assert len(set(drawn)) == 4, "three clusters and what joins them"
    assert len(set(branches(sm.plot.dendrogram(tree)))) == 1


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 5, 12])
def test_colours_follow_the_cut(n_clusters):
    from similitude.plot.clusters import _REST, _branch_colours

    tree, _ = tree_of()
    colours = _branch_colours(tree, n_clusters)
    clusters = fcluster(tree, n_clusters, "maxclust") if n_clusters < 12 else np.arange(12)  # which scipy 1.13 misses
    members = {k: {k} for k in range(12)}
    for k, (one, two) in enumerate(tree[:, :2].astype(int)):
        members[12 + k] = members[one] | members[two]
        within = len(set(clusters[list(members[12 + k])])) == 1
        assert (colours[12 + k] != _REST) == within


def test_a_kernel_is_drawn_in_the_given_order_without_its_diagonal_in_the_scale():
    K = np.array([[9.0, 0.1, 0.3], [0.1, 9.0, 0.2], [0.3, 0.2, 9.0]])
    axes = sm.plot.kernel_matrix(K, order=[2, 0, 1])
    image = axes.images[0]
    np.testing.assert_array_equal(image.get_array(), K[np.ix_([2, 0, 1], [2, 0, 1])])
    assert image.get_clim() == (0.1, 0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sm.plot.dendrogram(np.zeros((3, 3))), r"tree: expected \(n - 1, 4\) merges"),
        (lambda: sm.plot.dendrogram(tree_of()[0], labels=["a"]), r"labels: expected one per item \(12\), found 1"),
        (lambda: sm.plot.dendrogram(tree_of()[0], n_clusters=40), "n_clusters: expected 1 to 12, found 40"),
        (lambda: sm.plot.kernel_matrix(np.zeros((2, 3))), "K: expected a square matrix"),
        (lambda: sm.plot.kernel_matrix(np.eye(3), order=[0, 0, 1]), "order: expected every item from 0 to 2 once"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
