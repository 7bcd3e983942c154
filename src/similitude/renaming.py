"""Former words of arguments: they keep working for one release, and say what they are called now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed(**words: str) -> Callable[[Function], Function]:
    """Let a function or a constructor take arguments by their former names: `renamed(l1="penalty")`."""

    def with_former(function: Function) -> Function:
        @functools.wraps(function)
        def called(*values: Any, **given: Any) -> Any:
            for former in words.keys() & given.keys():
                now = words[former]
                if now in given:
                    raise TypeError(f"{former}: this is called {now} now, and {now} is given, too; give {now} alone")
                warnings.warn(f"{former}: this is called {now} now", FutureWarning, stacklevel=2)
                given[now] = given.pop(former)
            return function(*values, **given)

        return called  # type: ignore[return-value]  # it takes what the function takes, and more

    return with_former


def by_name(name: str) -> Callable[[Function], Function]:
    """Let a constructor take by position what it takes by name alone now."""

    def with_position(function: Function) -> Function:
        @functools.wraps(function)
        def called(self: Any, *values: Any, **given: Any) -> Any:
            if values:
                first, *rest = values
                if rest or name in given:
                    raise TypeError(f"{type(self).__name__}: expected arguments by name, found {len(values)} without")
                warnings.warn(f"{name}: give this by name: {name}={first!r}", FutureWarning, stacklevel=2)
                given[name] = first
            return function(self, **given)

        return called  # type: ignore[return-value]  # it takes what the function takes, and more

    return with_position
