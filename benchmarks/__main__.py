"""Run topics and report: `python -m benchmarks [TOPIC ...] [options]`, all topics when none is named."""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from benchmarks import topics
from benchmarks.report import show, store
from benchmarks.settings import METHODS, Settings

NAMES = [info.name for info in pkgutil.iter_modules(topics.__path__)]


def main(arguments: list[str]) -> None:
    if arguments[:1] in (["record"], ["history"]):
        commands = importlib.import_module("benchmarks.history.commands")
        getattr(commands, arguments[0])(arguments[1:])
        return
    options = _parser().parse_args(arguments)
    settings = Settings(
        threads=options.threads,
        repeats=options.repeats,
        seed=options.seed,
        quick=options.quick,
        methods=tuple(options.methods.split(",")),
        before=options.before,
        device=options.device,
        final=options.final,
    )
    if unknown := set(options.topics) - set(NAMES):
        sys.exit(f"unknown topic {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    chosen = options.topics or [name for name in NAMES if not (options.short and _topic(name).LONG)]
    command = " ".join(["python -m benchmarks", *arguments])
    for name in chosen:
        for table in _topic(name).run(settings):
            show(table)
            if not settings.quick:
                store(table, settings, command)


def _topic(name: str) -> ModuleType:
    """Import a topic, and so what it needs: a machine with a GPU need not have what the study needs."""
    return importlib.import_module(f"benchmarks.topics.{name}")


def _what_it_measures(name: str) -> str:
    """Return the first line of a topic's docstring, without importing the topic."""
    (folder,) = topics.__path__
    source = Path(folder, f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def _parser() -> argparse.ArgumentParser:
    described = "\n".join(f"  {name:18} {_what_it_measures(name)}" for name in NAMES)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Measure similitude beside its peers.\n\ntopics:\n{described}\n\n"
        "or: record (core operations at this commit), history (what fell behind since); each has its own --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="default: all of them")
    parser.add_argument("--threads", type=int, default=1, help="threads for each side (default 1)")
    parser.add_argument("--repeats", type=int, default=3, help="times are the best of so many (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first repeat (default 1)")
    parser.add_argument("--methods", default=",".join(METHODS), help="which methods (default all)")
    parser.add_argument("--before", metavar="FOLDER", help="an earlier checkout, measured in turn where a topic can")
    parser.add_argument("--device", default="cpu", help="where fits run, in topics that can: cpu (default) or cuda")
    parser.add_argument("--final", action="store_true", help="open test data that a topic keeps closed otherwise")
    parser.add_argument("--short", action="store_true", help="leave out the topics that take many minutes")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs; not stored")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
