"""A method's docstring names what it shares with the classes that it extends, each thing once."""

import inspect

from similitude.methods.inherited_docs import complete_docstring


class Recipe:
    """What methods share.

    Parameters
    ----------
    size : how large
    tol, max_iter : when to stop, which
        takes two lines to say

    Attributes
    ----------
    found_ : what was found
    """

    def __init__(self, size=1, tol=1.0, max_iter=2):
        pass


class Method(Recipe):
    """One of them.

    Parameters
    ----------
    tol : when this one stops
    first : its own

    Attributes
    ----------
    own_ : its own

    Examples
    --------
    >>> 1 + 1
    2
    """

    def __init__(self, first, tol=1.0, max_iter=2):
        pass


def test_what_a_class_does_not_say_is_taken_from_the_one_that_it_extends():
    complete_docstring(Method)
    assert inspect.cleandoc(Method.__doc__) == (
        "One of them.\n\n"
        "Parameters\n----------\n"
        "first : its own\ntol : when this one stops\nmax_iter : when to stop, which\n    takes two lines to say\n\n"
        "Attributes\n----------\nown_ : its own\nfound_ : what was found\n\n"
        "Examples\n--------\n>>> 1 + 1\n2"
    )


def test_completing_twice_changes_nothing():
    complete_docstring(Method)
    once = Method.__doc__
    complete_docstring(Method)
    assert Method.__doc__ == once


def test_without_docstrings_nothing_is_done():
    bare = type("Bare", (Recipe,), {})
    complete_docstring(bare)
    assert bare.__doc__ is None
