"""
Fine-tune an encoder on comparisons
===================================

Small pictures of discs differ in hue, size and place. People who compare them look at hue and size alone. A small
convolutional network learns from their answers, end to end, to see as they do, and does so for pictures that nobody was
asked about. Needs `similitude[gpu]` (torch); a few seconds on a CPU.
"""

import colorsys

import numpy as np
import torch
from torch import nn

import similitude as sm
from similitude.torch import ComparedLoss, loader

rng = np.random.default_rng(0)
torch.manual_seed(0)


def disc(hue, radius, x, y, width=16):
    """A picture: 3 × 16 × 16."""
    rows, columns = np.mgrid[:width, :width]
    inside = (rows - y) ** 2 + (columns - x) ** 2 < radius**2
    return np.array(colorsys.hsv_to_rgb(hue, 0.9, 0.9))[:, None, None] * inside


hue, radius = rng.uniform(0, 0.7, 150), rng.uniform(2, 6, 150)
pictures = np.array([disc(*one) for one in zip(hue, radius, *rng.uniform(5, 11, (2, 150)), strict=True)])
inputs = torch.tensor(pictures, dtype=torch.float32)

truth = np.column_stack([hue / 0.7, radius / 4])
answers = sm.simulate(truth, 6000, sharpness=20.0, random_state=1)
train, held_out = answers.split(0.2, by="item", random_state=2)  # a fifth of the pictures are never trained on

# %%
# Every batch holds the pictures of its comparisons once each; any encoder that gives a vector per picture will do.

encoder = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(32 * 4 * 4, 8),
)  # fmt: skip
loss = ComparedLoss("ste")
optimiser = torch.optim.AdamW(encoder.parameters(), lr=3e-3, weight_decay=0.03)


def score(vectors):
    """Share of the answers about new pictures that vectors agree with."""
    return f"{sm.Similarity(vectors, loss.loss).score(held_out):.1%}"


print("raw pixels:", score(pictures.reshape(150, -1)))
for _ in range(12):
    for batch in loader(train, 256, inputs=inputs, seed=3):
        optimiser.zero_grad()
        loss(encoder(batch.inputs), batch).backward()
        optimiser.step()
print("encoder:", score(encoder(inputs).detach().double().numpy()))
print("truth:", score(truth))
