"""Run topics and report: `python -m benchmarks [TOPIC ...] [options]`, all topics when none is named."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

from benchmarks import topics
from benchmarks.report import show, store
from benchmarks.settings import METHODS, Settings

NAMES = [info.name for info in pkgutil.iter_modules(topics.__path__)]
TOPICS = {name: importlib.import_module(f"benchmarks.topics.{name}") for name in NAMES}


def main(arguments: list[str]) -> None:
    options = _parser().parse_args(arguments)
    settings = Settings(
        threads=options.threads,
        repeats=options.repeats,
        seed=options.seed,
        quick=options.quick,
        methods=tuple(options.methods.split(",")),
    )
    if unknown := set(options.topics) - set(TOPICS):
        sys.exit(f"unknown topic {', '.join(sorted(unknown))}; there are {', '.join(TOPICS)}")
    chosen = options.topics or [name for name, topic in TOPICS.items() if not (options.short and topic.LONG)]
    command = " ".join(["python -m benchmarks", *arguments])
    for name in chosen:
        for table in TOPICS[name].run(settings):
            show(table)
            if not settings.quick:
                store(table, settings, command)


def _parser() -> argparse.ArgumentParser:
    described = "\n".join(f"  {name:10} {topic.__doc__.splitlines()[0]}" for name, topic in TOPICS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Measure similitude beside its peers.\n\ntopics:\n{described}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="default: all of them")
    parser.add_argument("--threads", type=int, default=1, help="threads for each side (default 1)")
    parser.add_argument("--repeats", type=int, default=3, help="times are the best of so many (default 3)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first repeat (default 1)")
    parser.add_argument("--methods", default=",".join(METHODS), help="which methods (default all)")
    parser.add_argument("--short", action="store_true", help="leave out the topics that take many minutes")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs; not stored")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
