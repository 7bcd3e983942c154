"""Odd-one-out: which of three does not belong."""

from __future__ import annotations

from similitude.feedback.forms.base import FileColumns
from similitude.feedback.forms.picking import OneOfThree


class OddOneOut(OneOfThree):
    """The two others are more alike than either is with the odd one, a: d(b,c) < d(b,a) and d(c,b) < d(c,a)."""

    name = page = "odd_one_out"
    words = "odd-one-out questions of three items"
    says = "position of the odd one"
    ask = "Which one is the odd one out?"
    columns = (FileColumns((("a",), ("b",), ("odd",)), said=2),)
    near, far = [[1, 2], [2, 1]], [[1, 0], [2, 0]]
