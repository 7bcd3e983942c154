"""
Landmarks: more from the same number of answers
===============================================

A comparison kernel holds what was said of two items against each other. That needs the same questions about both, which
random questions seldom are. A landmark design asks every item about the same few landmarks.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import similitude as sm

group = np.repeat([0, 1, 2, 3], 40)
centres = np.array([[0, 0], [5, 0], [0, 5], [5, 5]])
truth = np.random.default_rng(0).normal(size=(160, 2)) + centres[group]
landmarks = sm.choose_landmarks(160, 12, random_state=0)

# %%
# Ten answers in a hundred are wrong. Both designs get the same number of answers.

numbers = [500, 1000, 2000, 4000, 8000]
found = {"landmark design": [], "random questions": []}
for number in numbers:
    questions = sm.landmark_questions(160, landmarks, n_questions=number, random_state=1)
    designed = sm.simulate(truth, questions=questions, flip=0.1, random_state=2)
    at_random = sm.simulate(truth, number, flip=0.1, random_state=2)
    for name, answers in zip(found, (designed, at_random), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sm.FeedbackWarning)  # at first, some items are head of no question
            features = sm.ComparisonKernel("k1").fit(answers).features_
        clusters = sm.KernelKMeans(4, kernel="linear", random_state=0).fit_predict(features)
        found[name].append(sm.purity(group, clusters))

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, purity in found.items():
    ax.plot(numbers, purity, marker="o", label=name)
    print(name, np.round(purity, 2))
ax.set(xscale="log", xlabel="answers", ylabel="purity of four clusters", ylim=(0.2, 1.02))
ax.set_xticks(numbers, [f"{number:,}" for number in numbers])
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# The features are an item by the pairs of landmarks; kernel PCA of them is a map.

features = sm.ComparisonKernel("k1", landmarks=landmarks).fit(designed).features_
axes = sm.plot.embedding(sm.kernel_map(features, kernel="linear"), classes=group, labels=False)
axes.set_title("kernel PCA of k1, landmark design")
plt.show()
