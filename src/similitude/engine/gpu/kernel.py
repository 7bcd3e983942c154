"""One pass over comparisons on a GPU: distances, losses, slopes and pullback in one kernel, written in Triton.

Comparisons are sorted by the first item of their near pair, its head, and cut into segments of one head each. A program
takes a segment: the head's position stays in registers, its pull is summed there and added once; the positions of the
others are gathered, and their pulls scattered by atomic additions. So a triplet costs two gathered and two scattered
rows, and no number in between is written to memory. Offsets are 64-bit.
"""

# No `from __future__ import annotations` here: Triton reads `tl.constexpr` from the annotations themselves.

import math
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

from similitude.engine.terms import ComparisonLoss, Expression, lower

_BLOCK, _WARPS = 32, 1  # a row for each thread of one warp: segments are short, and it is their number that fills a GPU


@triton.jit
def _log1p(x):  # type: ignore[no-untyped-def]
    """log(1 + x) for x >= -1/2, exact to rounding (Kahan's correction)."""
    whole = 1.0 + x
    return tl.log(whole) - ((whole - 1.0) - x) / whole


_TRITON: dict[str, Any] = {
    "__name__": __name__,
    "Any": tl.tensor,  # Triton looks up the annotations of arguments
    "absolute": tl.abs,
    "exp": tl.exp,
    "log": tl.log,
    "log1p": _log1p,
    "maximum": tl.maximum,
    "minimum": tl.minimum,
    "sqrt": tl.sqrt,
}


@cache
def _in_triton(expression: Expression) -> Any:
    return triton.jit(lower(expression, _TRITON))


@triton.jit
def _embedding(  # type: ignore[no-untyped-def]
    X, out, values, head, start, stop, near, far_first, far_second, weight, scale_parameter, shape_parameter,
    scale: tl.constexpr, shape: tl.constexpr, triplets: tl.constexpr, weighted: tl.constexpr,
    width: tl.constexpr, columns: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Segment `program_id`: add its part of L X to `out` and keep its sum of weighted losses."""
    segment = tl.program_id(0)
    i = tl.load(head + segment).to(tl.int64)
    begin, end = tl.load(start + segment), tl.load(stop + segment)
    column = tl.arange(0, columns)
    x_i = tl.load(X + i * width + column, mask=column < width, other=0.0)
    pull_i = tl.zeros([columns], tl.float32)
    total = 0.0
    # What is known when the kernel is compiled (`triplets`, `weighted`, the formulas) leaves no branch in this loop.
    for first in range(begin, end, block):
        row = first + tl.arange(0, block)
        here = row < end
        inside = here[:, None] & (column < width)[None, :]
        j = tl.load(near + row, mask=here, other=0).to(tl.int64)[:, None] * width + column[None, :]
        l = tl.load(far_second + row, mask=here, other=0).to(tl.int64)[:, None] * width + column[None, :]
        a = x_i[None, :] - tl.load(X + j, mask=inside, other=0.0)
        if triplets:
            b = x_i[None, :] - tl.load(X + l, mask=inside, other=0.0)
        else:
            k = tl.load(far_first + row, mask=here, other=0).to(tl.int64)[:, None] * width + column[None, :]
            b = tl.load(X + k, mask=inside, other=0.0) - tl.load(X + l, mask=inside, other=0.0)
        level_near, slope_near, _ = scale(tl.sum(a * a, 1), scale_parameter)
        level_far, slope_far, _ = scale(tl.sum(b * b, 1), scale_parameter)
        value, steep, _ = shape(level_far - level_near, shape_parameter)
        if weighted:
            counts = tl.load(weight + row, mask=here, other=0.0)
            value, steep = value * counts, steep * counts
        total += tl.sum(tl.where(here, value, 0.0))  # rows beyond the end were loaded as item 0, and have a value, too
        pull_near = (-steep * slope_near)[:, None] * a
        pull_far = (steep * slope_far)[:, None] * b
        # Relaxed: nobody reads the sums before the kernel ends, so their order need not be kept for anybody.
        tl.atomic_add(out + j, -pull_near, mask=inside, sem="relaxed")
        tl.atomic_add(out + l, -pull_far, mask=inside, sem="relaxed")
        if triplets:
            pull_i += tl.sum(tl.where(inside, pull_near + pull_far, 0.0), 0)
        else:
            pull_i += tl.sum(tl.where(inside, pull_near, 0.0), 0)
            tl.atomic_add(out + k, pull_far, mask=inside, sem="relaxed")
    tl.atomic_add(out + i * width + column, pull_i, mask=column < width, sem="relaxed")
    tl.store(values + segment, total)  # a sum each, added up in 64 bits afterwards: one for all would lose digits


def embedding(loss: ComparisonLoss, X: torch.Tensor, part: Any, out: torch.Tensor) -> torch.Tensor:
    """Add L X of a part's comparisons to `out`; return the sum of their weighted losses, on the device."""
    if not (X.is_contiguous() and out.is_contiguous()):
        raise ValueError("X and out: expected rows one after the other in memory")
    segments, width = len(part.head), X.shape[1]
    values = torch.empty(segments, dtype=torch.float32, device=X.device)
    none = part.near  # a column that is not read stands in for one that is not there
    _embedding[(segments,)](
        X, out, values, part.head, part.start, part.stop, part.near, none if part.far_first is None else part.far_first,
        part.far_second, none if part.weight is None else part.weight,
        float(loss.scale.parameter), float(loss.shape.parameter),
        _in_triton(loss.scale.expression), _in_triton(loss.shape.expression), part.far_first is None,
        part.weight is not None, width, 1 << math.ceil(math.log2(max(width, 2))), _BLOCK, num_warps=_WARPS,
    )  # fmt: skip
    return values.sum(dtype=torch.float64)
