"""Former words of arguments: they keep working for one release, and say what they are called now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Named = TypeVar("Named", bound=Callable[..., Any])


def renamed(**words: str) -> Callable[[Named], Named]:
    """Let a function or a class take arguments by their former names: `renamed(l1="penalty")`.

    Of a class these are the constructor and, where it has one, `set_params`.
    """

    def with_former(target: Named) -> Named:
        @functools.wraps(target)
        def called(*values: Any, **given: Any) -> Any:
            for former in words.keys() & given.keys():
                now = words[former]
                if now in given:
                    raise TypeError(f"{former}: this is called {now} now, and {now} is given, too; give {now} alone")
                warnings.warn(f"{former}: this is called {now} now", FutureWarning, stacklevel=2)
                given[now] = given.pop(former)
            return target(*values, **given)

        return called  # type: ignore[return-value]  # it takes what the function takes, and more

    return _of_a_class_too(with_former, "__init__", "set_params")


def by_name(name: str) -> Callable[[Named], Named]:
    """Let the constructor of a class take by position what it takes by name alone now."""

    def with_position(target: Named) -> Named:
        @functools.wraps(target)
        def called(self: Any, *values: Any, **given: Any) -> Any:
            if values:
                first, *rest = values
                if rest or name in given:
                    raise TypeError(f"{type(self).__name__}: expected arguments by name, found {len(values)} without")
                warnings.warn(f"{name}: give this by name: {name}={first!r}", FutureWarning, stacklevel=2)
                given[name] = first
            return target(self, **given)

        return called  # type: ignore[return-value]  # it takes what the function takes, and more

    return _of_a_class_too(with_position, "__init__")


def _of_a_class_too(decorate: Callable[[Any], Any], *methods: str) -> Callable[[Named], Named]:
    """Decorate a function, or these methods of a class."""

    def decorated(target: Named) -> Named:
        if not isinstance(target, type):
            return decorate(target)
        for method in methods:
            if hasattr(target, method):
                setattr(target, method, decorate(getattr(target, method)))
        return target

    return decorated
