"""Encoders that learn from what people said: losses, datasets and samplers for PyTorch.

An encoder turns the inputs of a batch (texts, pictures, vectors) into one vector per item, and a loss turns these
vectors and what was said of them into one number to go downhill on. The formulas are those of `similitude.engine`,
lowered; each brings its slope and curvature, which autograd uses as they stand. Needs `similitude[gpu]`.

| what was said | loss | what it learns beside the encoder |
|---|---|---|
| comparisons | `ComparedLoss` | nothing |
| comparisons by raters who differ | `JudgedLoss` | the sharpness of each rater, and how often each guesses |
| answers as choices | `PickedLoss` | how often answers are given at random; raters as above |
| links | `LinkedLoss` | from which distance on a pair is dissimilar |
| ratings in steps, or as numbers | `GradedLoss`, `MeasuredLoss` | the scale of the ratings, a shift of each rater |

`loader` makes batches of any of these: each holds its items once, so that the encoder sees each of them once.
`FeedbackDataset`, `TripletDataset` and `HeadSampler` are its parts, for loops of one's own.
"""

from similitude.extras import need

need("gpu", "similitude.torch")

from similitude.torch.batches import Batch, FeedbackDataset, HeadSampler, TripletDataset, loader  # noqa: E402
from similitude.torch.choice_losses import PickedLoss  # noqa: E402
from similitude.torch.losses import ComparedLoss, JudgedLoss, LinkedLoss  # noqa: E402
from similitude.torch.rating_losses import GradedLoss, MeasuredLoss  # noqa: E402

__all__ = [
    "Batch",
    "ComparedLoss",
    "FeedbackDataset",
    "GradedLoss",
    "HeadSampler",
    "JudgedLoss",
    "LinkedLoss",
    "MeasuredLoss",
    "PickedLoss",
    "TripletDataset",
    "loader",
]
