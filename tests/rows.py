"""What `tests.machines` and `tests.versions` share: rows chosen by name, and what is said at the end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

PYTEST = ("-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal")


def chosen_rows(program: str, rows: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """The rows that the command line names, all where it names none; and what follows --, for pytest."""
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="one of " + ", ".join(row.name for row in rows))
    parser.add_argument("--list", action="store_true", help="say what each row is, and run nothing")
    asked = parser.parse_args(words[:cut])
    if unknown := set(asked.rows) - {row.name for row in rows}:
        parser.error(f"no row is called {', '.join(sorted(unknown))}; there are {', '.join(row.name for row in rows)}")
    chosen = [row for row in rows if not asked.rows or row.name in asked.rows]
    if asked.list:
        print("\n".join(map(str, chosen)))
        sys.exit()
    return chosen, words[cut + 1 :]


def summary(results: Mapping[str, str]) -> int:
    """Say how each row went; 1 where one failed."""
    print("\n" + "\n".join(f"{name:12} {result}" for name, result in results.items()))
    return int(any(result.startswith("FAILED") for result in results.values()))
