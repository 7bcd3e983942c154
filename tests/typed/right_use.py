"""Public names used correctly, as in the guides: a type checker has nothing to say.

Nothing here is run; `test_checkers.py` has it read.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import similitude as sm
from similitude import STE, Comparisons

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 2))
c = sm.simulate(X, 100, names=list("abcdef"), sharpness=2.0, raters=3, random_state=rng)
train, test = c.split(0.2, random_state=0)

model = sm.STE(n_components=2, penalty=0.1, init=X, random_state=0).fit(train)
score: float = model.score(test)
positions: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = model.embedding_
print(", ".join(model.neighbors("a", k=3)))
similarity: sm.Similarity = model.similarity_
similarity.save(Path("model.sim"))
print(sm.Similarity.load("model.sim").distances().mean(), sm.__version__)

STE().fit([(0, 1, 2), (1, 0, 2)])
Comparisons.from_triplets([("a", "b", "c"), ("b", "a", "c")], [True, None], rater="ann", time=[1.5, 2.0])
sm.SOE(3, delta=0.5, solver="minibatch").fit(pd.DataFrame([(0, 1, 2)]), [True])
sm.TSTE(alpha=1).fit(sm.ComparisonDataset("answers")).predict_proba(c)
sm.Embedding(2, loss="probit").fit(c).predict_proba(c)
sm.Embedding(loss=("squared", (lambda m, width: (m * width, m, m), 0.5)), penalty=0.1).fit(c)
sm.Embedding(loss=sm.Embedding(loss=(("student", 2.0), "hinge")).comparison_loss(), model="positions")
sm.RaterEmbedding(method="CKL", spread="auto").fit(c).raters_.sort_values("sharpness")
sm.MixedEmbedding(weights={"links": 0.5}).fit(c, links=sm.Links.from_pairs([("a", "b")]))
features = {"look": sm.kernels.RBF(X), "words": X}
sm.FeatureEmbedding(2).fit(c, features=features).transform({"look": X[:2]})
sm.KernelKMeans(2, random_state=0).fit(X @ X.T).labels_.tolist()

answers: Comparisons = sm.read_comparisons("answers.csv", larger="similar")
print(sm.check(answers).ceiling.value, sm.check(sm.ComparisonDataset("answers")).questions)
print(sm.Labels.of(range(3), ["cat", "cat", "bus"], rater="ann").classes, sm.Raters.of([2.0, 1.0], lapse=0.1))
print(
    sm.purity(["a", "b"], np.array([0, 1])), sm.align(X, X.tolist()), sm.separation(model.distances(), list("aabbcc"))
)
print(sm.choose_landmarks(6, 2), sm.choose_landmarks(csr_array(X), 2), model.pair_distance([("a", "b")]))
sm.plot.weights(pd.Series({"look": 0.5}))
sm.plot.kernel_matrix(sm.kernels.Bhattacharyya((X, np.ones((6, 2)))).matrix(), order=range(6))
print(sm.compare(model, similarity, c).correlation, sm.compare(model, X @ X.T).procrustes)
sm.penalty_path(sm.RCKL(), c, [0.1, 1.0]).plot()
sm.AutoSimilarity(candidates=[sm.STE(), sm.CKL()]).fit(c, features=csr_array(X)).tried_.head()
sm.RankProjection().fit(c, features=pd.DataFrame(X, index=list("abcdef"))).transform([[0.0, 1.0]])
step = sm.SimilarityTransformer(c, sm.FeatureEmbedding(2)).fit(pd.DataFrame(X, index=list("abcdef")))
print(step.transform(X).mean(), step.score(X, items=list("abcdef")), sm.baselines(c, features, model=sm.CKL()).gain)
tuples = sm.VectorMetric(preprocessor=X).fit([[0, 1, 2], [1, 0, 2]])
print(tuples.components_.T, tuples.get_metric()(X[0], X[1], squared=True), model.get_metric(of="items")([0], [1]) + 1.0)
sm.plot.rater_agreement(sm.check(c))
table: pd.DataFrame = sm.cross_validate({"STE": model, "CKL": sm.CKL()}, c, by="rater", n_folds=3)
found: sm.Findings = sm.learn(c, method="STE", time_limit=10)
found.save("report", title="Faces", colours={"a": "#ff0000"})
sure: sm.Uncertainty = sm.uncertainty(model, c, n=20)
asked: pd.DataFrame = sm.next_questions(model, 10, asked=c, candidates="all")
sm.active_curve(sm.CKL(), X, rounds=3, sharpness=2.0).plot()
sm.plot.save(sm.plot.embedding(model, uncertainty=sure, labels=True), "map.pdf")
