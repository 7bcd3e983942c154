"""What may be asked of a served model: the bodies of requests, and of their responses."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from similitude.study.refusal import Refused

Item = str | Annotated[int, Field(ge=0, strict=True)]  # strict: true is no position
Vectors = Annotated[list[list[float]], Field(min_length=1, description="a row of numbers for each new item")]
Items = Annotated[list[Item], Field(min_length=1, description="items by name, or by position from 0 on")]


class ModelRequest(BaseModel):
    """A request: what is not known in it is an error, and so is a number that is none."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TransformAsked(ModelRequest):
    """Vectors of new items."""

    vectors: Vectors


class NeighborsAsked(ModelRequest):
    """Items, or vectors of new items, whose neighbours are asked for."""

    items: Items | None = None
    vectors: Vectors | None = None
    k: Annotated[int, Field(ge=1, description="how many neighbours")] = 5


class PredictAsked(ModelRequest):
    """Rows of three items (is the first more like the second than like the third?) or of four (two pairs)."""

    comparisons: Annotated[
        list[Annotated[list[Item], Field(min_length=3, max_length=4)]],
        Field(min_length=1, description="rows (i, j, k), or (i, j, k, l): is pair i, j more alike than pair k, l?"),
    ]


class PositionsSaid(BaseModel):
    """Where vectors lie; Euclidean distances between positions are the learned ones where `kind` is "distance"."""

    positions: list[list[float]]


class Neighbor(BaseModel):
    """An item of the model, and how far away it is; a model of another `kind` than "distance" tells a dissimilarity."""

    item: str | int
    distance: float | None = None
    dissimilarity: float | None = None


class NeighborsSaid(BaseModel):
    """For each item or vector its neighbours, the nearest first."""

    neighbors: list[list[Neighbor]]


class PredictionsSaid(BaseModel):
    """For each comparison whether the first pair is nearer, and the probability that a person says so."""

    nearer: list[bool]
    probability: list[float] | None


class ModelSaid(BaseModel):
    """What is served."""

    method: str
    kind: str = Field(description='what lies between two items: "distance", or a dissimilarity that is no distance')
    items: int
    dimensions: int
    vectors: int | None = Field(description="how many numbers a vector has; null where the model takes none")
    probability: bool = Field(description="whether /predict tells probabilities")
    rows: int = Field(description="the most rows of a request")
    version: str


def not_understood(sentence: str) -> Refused:
    """A request that the model cannot answer, with the reason."""
    return Refused(422, "invalid", sentence)
