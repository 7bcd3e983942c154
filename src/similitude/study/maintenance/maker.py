"""The report, or the atlas of dimensions, as a process of its own: as long as it takes, no rater waits for it.

Started by a server (`similitude.study.web.making`), it reads one line of JSON from its standard input, works at a low
priority, says in the database how far it is, and leaves a zip file there. It ends with the server: the input closes.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from similitude.study.logs import configure
from similitude.study.settings import StudyError
from similitude.study.store.database import Database
from similitude.study.works import DIMENSIONS, Works

_log = logging.getLogger("similitude.study.maker")
_BEAT = 5.0  # seconds between signs of life
_OFTEN = 0.5  # seconds between two words on how far it is
_MOST_BYTES = 500 << 20
_STOPPED = "The server was stopped meanwhile. Start it again."
Step = Callable[[str, int, int], None]


def main() -> None:
    """Read what to make from standard input, and make it."""
    configure()
    settings = json.loads(sys.stdin.readline())
    if hasattr(os, "nice"):
        os.nice(10)
    database = Database(settings.pop("url"), known=True)
    works, number = Works(database), settings.pop("work")
    threading.Thread(target=_end_with_server, args=(works, number), daemon=True).start()
    threading.Thread(target=_beat, args=(works, number), daemon=True).start()
    run(works, number, settings)
    os._exit(0)  # whatever still waits for its input


def _end_with_server(works: Works, number: int) -> None:
    sys.stdin.read()
    try:
        works.fail(number, _STOPPED)
    finally:
        os._exit(1)


def _beat(works: Works, number: int) -> None:
    while True:
        time.sleep(_BEAT)
        try:
            works.tell(number)
        except OSError as fault:  # the database is away for now: so is who would read it
            _log.warning("%s", fault)


def run(works: Works, number: int, settings: Mapping[str, Any]) -> None:
    """Make it, and say how it ended."""
    try:
        made, answers, summary = make(works.database, _progress(works, number), **settings)
        works.finish(number, made, answers, summary)
    except (ValueError, StudyError) as refusal:
        works.fail(number, _sentence(str(refusal)))
    except Exception as fault:
        _log.exception("%s", settings.get("study"))
        works.fail(number, f"It failed ({type(fault).__name__}); the server's log says how.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."


def _progress(works: Works, number: int) -> Step:
    """Write down how far it is, not too often."""
    last, said = -_OFTEN, ""

    def step(phase: str, done: int, total: int) -> None:
        nonlocal last, said
        if phase != said or time.monotonic() - last >= _OFTEN:
            last, said = time.monotonic(), phase
            works.tell(number, phase=phase, done=done, total=total)

    return step


def make(
    database: Database, step: Step, kind: str, study: str, title: str, images: Mapping[str, str],
    colours: Mapping[str, str], time_limit: float = 120.0, starts: int = 5, halves: int = 2,
) -> tuple[bytes, int, Any]:  # fmt: skip
    """The zip file, how many answers it is of, and what other pages show of it.

    Parameters
    ----------
    database, study : where the answers are
    step : called with what is being done, how many parts of it are done, and of how many
    kind : report or dimensions
    title : of the study
    images, colours : of the items that have them: the file of a picture, a colour as #rrggbb
    time_limit : seconds for a report
    starts, halves : further fits that tell which dimensions come again
    """
    from similitude.engine.threads import limit_threads

    with limit_threads(1), tempfile.TemporaryDirectory(prefix="similitude-") as folder:
        target = Path(folder) / f"{study}_{kind}"
        target.mkdir()
        step("reading the answers", 0, 0)
        answers = _exported(database, study, target / "answers.csv")
        pictures = {name: Path(path) for name, path in images.items() if _can_be_drawn(Path(path))}
        if kind == DIMENSIONS:
            summary: Any = _dimensions(answers, target, title, pictures, step, starts, halves)
        else:
            summary = None
            _report(answers, target, title, pictures, dict(colours), step, time_limit)
        step("packing", 0, 0)
        return _zipped(target), answers.n_answers, summary


def _exported(database: Database, study: str, path: Path) -> Any:
    """The answers as anybody reads them who downloads the file."""
    import similitude as sm
    from similitude.study.maintenance.export import export_answers

    export_answers(database, study, path)
    return sm.read_comparisons(path)


def _report(
    c: Any, target: Path, title: str, images: dict[str, Path], colours: dict[str, str], step: Step, limit: float
) -> None:
    import similitude as sm

    found = sm.learn(c, time_limit=limit, step=step)
    step("writing the report", 0, 0)
    command = f"similitude learn answers.csv --time-limit {limit:g}"
    found.save(target, title, images=images, colours=colours, command=command, source=["answers.csv"])


def _dimensions(
    c: Any, target: Path, title: str, images: dict[str, Path], step: Step, starts: int, halves: int
) -> dict[str, Any]:
    import similitude as sm
    from similitude.analysis.dimension_tiles import shown_dimensions

    step("fitting the dimensions", 0, 0)
    model = sm.NonNegativeEmbedding(random_state=0).fit(c)
    again = None
    if starts and model.n_dimensions_:
        step("looking which come again", 0, 0)
        again = sm.dimension_reproducibility(model, c, n_seeds=starts, n_halves=halves, random_state=0)
    found = sm.describe_dimensions(model, c, reproducibility=again, random_state=0)
    step("writing the atlas", 0, 0)
    command = f"similitude dimensions answers.csv --starts {starts} --halves {halves}"
    sm.write_dimensions(found, target, f"Why things are alike: {title}", images=images, command=command)
    return {"dimensions": [_told(one) for one in shown_dimensions(found)]}


def _told(one: Any) -> dict[str, Any]:
    """A dimension as other pages show it."""
    items = [{"name": tile.name, "share": round(tile.share, 3)} for tile in one.tiles]
    said = {"number": one.number, "name": one.name, "suggested": bool(one.suggested), "share": one.share}
    return {**said, "doubtful": bool(one.doubtful), "items": items}


def _can_be_drawn(path: Path) -> bool:
    """Whether a picture can go onto a map of the report: drawings in SVG cannot."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
    return True


def _zipped(folder: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            packed.write(path, path.relative_to(folder.parent).as_posix())
    if out.tell() > _MOST_BYTES:
        raise ValueError(
            f"the files take {out.tell() >> 20} MB packed, more than {_MOST_BYTES >> 20}: make it by the command"
        )
    return out.getvalue()


if __name__ == "__main__":
    main()
