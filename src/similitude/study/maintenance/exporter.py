"""An export as a process of its own: the answers of a study on its standard output, for a server that sends them on.

Rows of a million answers are many Python objects, and threads of one process share one lock: made in the server, they
would stop raters for as long as they take, and leave it large. Started by a server (`similitude.study.web.downloads`),
the process reads one line of JSON from its standard input, says in one line whether there is a file, and writes it. It
ends when nobody reads any more, however that came.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack, closing
from typing import BinaryIO

from similitude.study.maintenance.export import AnswersFile
from similitude.study.settings import StudyError
from similitude.study.store.database import Database, StoreError


def main() -> None:
    """Read what to write from standard input, and write it."""
    settings = json.loads(sys.stdin.readline())
    if hasattr(os, "nice"):
        os.nice(10)
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own keeps 10 MB more than it needs here
    try:
        send(sys.stdout.buffer, **settings)
    except OSError:  # nobody reads any more: there is nothing left to say, not even what is still in the buffer
        os._exit(1)


def send(out: BinaryIO, url: str, study: str, kind: str, pilot: bool = False) -> None:
    """Write a line that says what is wrong (`{}` where nothing is), then the file."""
    with ExitStack() as opened:
        try:
            database = opened.enter_context(closing(Database(url, known=True)))
            answers = AnswersFile(database, study, kind, pilot=pilot)
        except StudyError as error:
            _say(out, {"code": "no_answers", "detail": str(error)})
        except StoreError as error:
            _say(out, {"code": "store", "detail": str(error)})
        except ModuleNotFoundError as error:  # a format that needs another extra
            _say(out, {"code": "not_installed", "detail": str(error)})
        else:
            _say(out, {})
            for piece in answers.pieces():
                out.write(piece)
            out.flush()


def _say(out: BinaryIO, refusal: dict[str, str]) -> None:
    out.write(json.dumps(refusal).encode() + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
