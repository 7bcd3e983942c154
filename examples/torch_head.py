"""
A head on frozen vectors
========================

Vectors of a model that somebody else trained say much that people do not care about. A linear head on them learns from
comparisons which directions count; the vectors stay as they are, so this takes seconds. Here raters differ, and the
loss learns beside the head how sharply each of them answers. Needs `similitude[gpu]` (torch).
"""

import numpy as np
import torch
from torch import nn

import similitude as sm
from similitude.torch import JudgedLoss, loader

rng = np.random.default_rng(0)
torch.manual_seed(0)
vectors = torch.tensor(rng.normal(size=(300, 64)), dtype=torch.float32)
truth = vectors[:, :4].double().numpy()  # people look at four directions of 64

# %%
# Two careful raters and one who is hardly better than a coin.

sharpness = {"ann": 1.0, "bob": 1.0, "cem": 0.1}
said = [sm.simulate(truth, 5000, sharpness=s, random_state=k) for k, s in enumerate(sharpness.values())]
rows = np.concatenate([one.quadruplets for one in said])
answers = sm.Comparisons.from_quadruplets(rows, rater=np.repeat(list(sharpness), 5000), n_items=300)
train, held_out = answers.split(0.2, by="item", random_state=1)

# %%
# The head and the loss have parameters each, and both are trained.

head, loss = nn.Linear(64, 8, bias=False), JudgedLoss(train, "ste")
optimiser = torch.optim.AdamW(
    [{"params": head.parameters(), "weight_decay": 0.3}, {"params": loss.parameters(), "weight_decay": 0.0}], lr=0.01
)


def score(vectors):
    """Share of the answers about new items that vectors agree with."""
    return f"{sm.Similarity(vectors, loss.term.loss).score(held_out):.1%}"


print("vectors as they are:", score(vectors.double().numpy()))
for _ in range(10):
    for batch in loader(train, 256, inputs=vectors, seed=2):
        optimiser.zero_grad()
        loss(head(batch.inputs), batch).backward()
        optimiser.step()
print("with the head:", score(head(vectors).detach().double().numpy()))
print("truth:", score(truth))
who = train.answers.rater.labels
print("sharpness:", ", ".join(f"{name} {s:.2f}" for name, s in zip(who, loss.sharpness()[:-1].tolist(), strict=True)))
