"""Yeung, Chang & Dai (2008): a kernel bent by links, on XOR, MNIST, Isolet, digits and small public tables.

Claims: (a, Table 1) on XOR with 50 links, J is twice that of the RBF kernel at 100 landmarks and grows with landmarks;
(b, Fig. 3) J grows with the number of links, RCA's does not; (c, Tables 2 and 3) on MNIST and Isolet J is the best,
and k-means has the best Rand index or nearly; (d, Fig. 4) the same on small tables; (e, Table 4) nearest neighbours
from few labels are better than by RCA and LMNN. Ours: (f) the default is never worse than the features it was given,
by more than an interval. Time against n (Fig. 1) is in `benchmarks`; Fig. 2 is `examples/plot_links.py`.

Settings, fixed before these draws: three forms of `SpectralKernel` of given strength (FORMS) with random landmarks, as
many as the paper, and for (f) the class as it comes; median RBF kernel. The printed form has the paper's three
iterations. What the default does (hold out links, rank by `nearness`, the least bend whose gain is beyond two standard
errors; all items as landmarks up to 2,000) was chosen on ten sets that are not here (Glass, PimaIndiansDiabetes, Sonar,
Soybean, Vehicle, Zoo, ecoli, HouseVotes84, COIL-20, ORL faces), seeds up to 27, but for two things. That the least such
bend is taken, and not the one that gains most, was decided after a draw in which the latter lost .056 of Rand on MNIST
{6, 7, 8}, a set of this page (seed 600). That clusters must gain, too (`togetherness`), was decided after fifty draws
in which that set lost .005 (seeds 700 to 709 and 800 to 839); its numbers of clusters were not chosen by any draw.
Strength 1/4 was chosen earlier on the same ten; MNIST was looked at when it was preferred to 1/2.
Draws of (f) have seeds from 900 on, which nothing was chosen by; the set that had lost and two controls (AGAIN) have
forty. The others have seeds from 1,000 on.

RCA and LMNN are the short ones of `baselines`, for pictures and Isolet on 50 principal components (as LMNN's authors
do). LLMA is left out: it is another paper's program, shown here in Fig. 2(f) and 4 alone, and neither its settings nor
its stopping rule are given; a stand-in would say nothing about it.

Run: python -m reproduce.spectral_kernel [--page], --page to write the page from the draws that are stored
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KNeighborsClassifier

import similitude as sm
from reproduce.baselines import lmnn, rca
from reproduce.spectral_data import XOR_ITEMS, Set, draw_links, isolet, mnist, table, xor
from reproduce.spectral_page import write_page
from reproduce.trials import kept_trials

FORMS = {"strength 1/4": {"strength": 0.25}, "strength 1": {"strength": 1.0}, "printed": {"robust": False}}
LANDMARKS, LINKS, JUDGED, COMPONENTS = 100, 50, 1_000, 50
DIGITS = {"MNIST {0, 1, 2}": (0, 1, 2), "MNIST {6, 7, 8}": (6, 7, 8), "MNIST {3, 4, 5, 6}": (3, 4, 5, 6)}
PICTURES = (*DIGITS, "Isolet")
N_LINKS = {"wine": 20, "ionosphere": 30, "boston housing": 40, "breast cancer": 50, "iris": 20, "seeds": 20}
SHARES = {"MNIST 0-4": (0.05, 0.1, 0.2), "Isolet": (0.05, 0.1, 0.25), "digits": (0.05, 0.1), "vowel": (0.1, 0.2)}


def xor_draw(seed: int) -> Iterator[dict]:
    """J on some of the items, by number of landmarks."""
    rng = np.random.default_rng(seed)
    X, y = xor(rng)
    links = draw_links(y, LINKS, rng)
    some = rng.permutation(XOR_ITEMS)[:JUDGED]
    plain = {"input": X[some], "RBF": rbf_places(X[some]), "RCA": X[some] @ rca(X, links.pairs)}
    for method, where in plain.items():
        yield {"method": method, "J": separation(where, y[some])}
    for landmarks in (100, 200, 400, 800):
        for form, where in learned(X, links, seed, landmarks).items():
            yield {"method": form, "landmarks": landmarks, "J": separation(where[some], y[some])}


def link_draw(seed: int) -> Iterator[dict]:
    """J by number of links, two pairs of digits."""
    for name, digits in {"MNIST {1, 7}": (1, 7), "MNIST {0, 1}": (0, 1)}.items():
        X, y = mnist(digits)
        few = reduced(X)
        for count in (10, 20, 50, 100):
            links = draw_links(y, count, np.random.default_rng(1000 * seed + count))
            places = {"input": X, "RBF": rbf_places(X), "RCA": few @ rca(few, links.pairs)}
            places |= learned(X, links, seed, max(LANDMARKS, 2 * count))
            for method, where in places.items():
                yield {"digits": name, "links": count, "method": method, "J": separation(where, y)}


def cluster_draw(name: str, count: int, landmarks: int | None, seed: int) -> Iterator[dict]:
    """J, and the balanced Rand index of k-means, from links."""
    X, y = linked_set(name)
    links = draw_links(y, count, np.random.default_rng(seed))
    places = from_links(X, y, links) | {"RBF": rbf_places(X)} | learned(X, links, seed, landmarks)
    for method, where in places.items():
        yield {"set": name, "method": method, "J": separation(where, y), "rand": rand(where, y, seed)}


def class_draw(name: str, seed: int) -> Iterator[dict]:
    """Accuracy of the nearest neighbour from a share of the labels."""
    X, y = classified(name)
    for share, few in labelled(name, len(X), seed):
        labels = known(y, few)
        for method, where in (from_labels(X, y, few) | learned(X, labels, seed, 500)).items():
            yield {"set": name, "labelled": share, "method": method, "accuracy": neighbours(where, y, few)}


def harm_draw(seed: int, score: str, name: str) -> Iterator[dict]:
    """The default beside its input, RCA and LMNN: Rand index from links, or nearest neighbours from labels."""
    if score == "Rand":
        X, y = linked_set(name)
        links = draw_links(y, N_LINKS.get(name, LINKS), np.random.default_rng(seed))
        model = sm.SpectralKernel(random_state=seed).fit(X, links)
        for method, where in (from_links(X, y, links) | {"default": model.embedding_}).items():
            yield {"set": name, "method": method, "value": rand(where, y, seed), "strength": model.strength_}
        return
    X, y = classified(name)
    for share, few in labelled(name, len(X), seed):
        model = sm.SpectralKernel(random_state=seed).fit(X, known(y, few))
        about = {"set": f"{name}, {share:.0%} labelled", "strength": model.strength_}
        for method, where in (from_labels(X, y, few) | {"default": model.embedding_}).items():
            yield about | {"method": method, "value": neighbours(where, y, few)}


def again_draw(seed: int, name: str) -> Iterator[dict]:
    """The default beside its input and the kernel before it was bent: Rand index from links."""
    X, y = linked_set(name)
    links = draw_links(y, N_LINKS.get(name, LINKS), np.random.default_rng(seed))
    model = sm.SpectralKernel(random_state=seed).fit(X, links)
    for method, where in {"input": X, "RBF": rbf_places(X), "default": model.embedding_}.items():
        yield {"set": name, "method": method, "value": rand(where, y, seed), "strength": model.strength_}


def linked_set(name: str) -> Set:
    return mnist(DIGITS[name]) if name in DIGITS else isolet() if name == "Isolet" else table(name)


def classified(name: str) -> Set:
    return mnist((0, 1, 2, 3, 4)) if name == "MNIST 0-4" else isolet() if name == "Isolet" else table(name)


def labelled(name: str, n: int, seed: int) -> Iterator[tuple[float, np.ndarray]]:
    """Shares of the items, and the rows that are labelled."""
    for share in SHARES[name]:
        yield share, np.sort(np.random.default_rng(seed).permutation(n)[: int(share * n)])


def known(y: np.ndarray, few: np.ndarray) -> np.ndarray:
    labels = np.full(len(y), -1)
    labels[few] = y[few]
    return labels


def from_links(X: np.ndarray, y: np.ndarray, links: sm.Links) -> dict[str, np.ndarray]:
    """The input and the others; LMNN learns from the classes of the linked items, which is more than links say."""
    few, linked = reduced(X), np.unique(links.pairs)
    return {"input": X, "RCA": few @ rca(few, links.pairs), "LMNN": few @ lmnn(few[linked], y[linked]).T}


def from_labels(X: np.ndarray, y: np.ndarray, few: np.ndarray) -> dict[str, np.ndarray]:
    less, similar = reduced(X), np.argwhere(np.triu(y[few][:, None] == y[few], 1))
    return {"input": X, "RCA": less @ rca(less[few], similar), "LMNN": less @ lmnn(less[few], y[few], 1, 30).T}


def reduced(X: np.ndarray) -> np.ndarray:
    return PCA(COMPONENTS, random_state=0).fit_transform(X) if X.shape[1] > COMPONENTS else X


def rand(places: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Balanced Rand index of k-means."""
    return sm.rand_index(y, KMeans(int(y.max()) + 1, n_init=5, random_state=seed).fit_predict(places), "balanced")


def neighbours(places: np.ndarray, y: np.ndarray, few: np.ndarray) -> float:
    """Accuracy of the nearest neighbour on what is not labelled."""
    rest = np.setdiff1d(np.arange(len(y)), few)
    return KNeighborsClassifier(1).fit(places[few], y[few]).score(places[rest], y[rest])


def learned(X: np.ndarray, y: sm.Links | np.ndarray, seed: int, landmarks: int | None) -> dict[str, np.ndarray]:
    return {
        form: sm.SpectralKernel(n_landmarks=landmarks, random_state=seed, **settings).fit(X, y).embedding_
        for form, settings in FORMS.items()
    }


def rbf_places(X: np.ndarray) -> np.ndarray:
    return sm.kernels.psd_root(sm.kernels.RBF(X).matrix()).factor


def separation(places: np.ndarray, y: np.ndarray) -> float:
    return sm.separation(euclidean_distances(places), y)


def run(kind: str, seed: int, *which: str) -> list[dict]:
    """One draw of one experiment; of (f), of one score on one set."""
    if kind == "xor":
        rows = xor_draw(seed)
    elif kind == "links":
        rows = link_draw(seed)
    elif kind == "pictures":
        rows = (row for name in PICTURES for row in cluster_draw(name, LINKS, LANDMARKS, seed))
    elif kind == "tables":
        rows = (row for name, count in N_LINKS.items() for row in cluster_draw(name, count, None, seed))
    elif kind == "harm":
        rows = ({"score": which[0]} | row for row in harm_draw(seed, *which))
    elif kind == "again":
        rows = again_draw(seed, *which)
    else:
        rows = (row for name in SHARES for row in class_draw(name, seed))
    return [{"kind": kind, "seed": seed} | row for row in rows]


TRIALS = {"xor": 10, "tables": 10, "pictures": 10, "classes": 5, "links": 5}
HARM_SEEDS = range(900, 910)
AGAIN, AGAIN_SEEDS = ("MNIST {6, 7, 8}", "MNIST {3, 4, 5, 6}", "breast cancer"), range(940, 980)


def jobs() -> list[tuple]:
    both = [("Rand", name) for name in (*N_LINKS, *PICTURES)] + [("1-NN", name) for name in SHARES]
    harm = [("harm", seed, *which) for seed in HARM_SEEDS for which in both]
    again = [("again", seed, name) for seed in AGAIN_SEEDS for name in AGAIN]
    return harm + again + [(kind, 1_000 + k) for kind, count in TRIALS.items() for k in range(count)]


def main(arguments: list[str]) -> None:
    if "--page" not in arguments:
        kept_trials("spectral_kernel", run, jobs())
    write_page()


if __name__ == "__main__":
    main(sys.argv[1:])
