"""Public names used wrongly, on each line marked so: a type checker refuses these lines and no others.

Nothing here is run; `test_checkers.py` has it read.
"""

import numpy as np

import similitude as sm

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 2))
c = sm.simulate(X, 100, random_state=0)
model = sm.STE(2).fit(c)

sm.STE(n_components="two", penaltyy=3)  # wrong
sm.nonexistent()  # wrong
sm.TSTE(alpha="heavy")  # wrong
sm.CKL(mu=None)  # wrong
sm.SOE(2, 1.0)  # wrong
sm.GNMDS(solver="newton")  # wrong
sm.Embedding(loss="stee")  # wrong
sm.Embedding(loss=("squared", "logit"))  # wrong
sm.Embedding(model="kernel")  # wrong
sm.RaterEmbedding(method="SOE")  # wrong
sm.GroupEmbedding(n_group=2)  # wrong
sm.MixedEmbedding(steps="some")  # wrong
sm.RCKL(loss="squared")  # wrong
sm.FeatureEmbedding().fit("answers.csv")  # wrong
sm.OnlineEmbedding(grow="yes")  # wrong
sm.simulate(X, 100, noise=0.1)  # wrong
sm.simulate("truth.csv", 100)  # wrong
sm.ERKLE(init_kernel="identity")  # wrong
sm.Labels.of(3, 4)  # wrong
sm.Ratings.of([("a", "b")], [5])  # wrong
sm.procrustes_distance("a", "b")  # wrong
sm.kernel_linkage(X @ X.T, method="ward")  # wrong
sm.choose_landmarks("items.csv", 5)  # wrong
sm.Comparisons.from_triplets([(0, 1, 2)], ratr="ann")  # wrong
sm.Links.from_pairs([(0, 1)], wieght=2.0)  # wrong
print(sm.check(c).ceilng)  # wrong
sm.check(c, level="high")  # wrong
sm.clean(c, reduce=1.5)  # wrong
sm.cross_validate([sm.STE()], c, by="question")  # wrong
sm.learn(c, time_limit="a minute")  # wrong
sm.learn(c, method="STEE")  # wrong
sm.uncertainty(model, c, method="jackknife")  # wrong
sm.next_questions(model, "ten")  # wrong
sm.next_questions("model.sim", 10)  # wrong
sm.compare(model, "other.sim")  # wrong
sm.penalty_path(sm.STE, c)  # wrong
sm.more_answers("STE", c)  # wrong
sm.MKPOE().fit(c, features="features.csv")  # wrong
sm.ComparisonDataset(3)  # wrong
sm.kernels.RBF(X, width="mean")  # wrong
sm.kernels.Linear("features.csv")  # wrong
sm.kernels.Gaussian(X)  # wrong
sm.plot.embedding(model, projection="umap")  # wrong
sm.plot.weights(3)  # wrong
sm.plot.rater_agreement(c)  # wrong
sm.plot.save(sm.plot.embedding(model))  # wrong
print(model.similarity_.embeding)  # wrong
print(model.embedding_.shap)  # wrong
answers: int = sm.read_comparisons("answers.csv")  # wrong
