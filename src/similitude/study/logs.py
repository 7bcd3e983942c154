"""What the server says of itself, as lines for people or as JSON for programs that collect logs.

The model process inherits the choice by the environment. Nobody's answers, names or tokens are ever part of a line.
"""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from typing import Any, Literal

LogFormat = Literal["text", "json"]
_VARIABLE = "SIMILITUDE_LOG_FORMAT"


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: time (UTC), level, logger, message and, of a fault, where it happened."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(),
            "process": record.process,
        }  # fmt: skip
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure(chosen: LogFormat | None = None) -> None:
    """Say everything as chosen, here and in processes that are started from here; None is as was chosen before."""
    found = chosen or os.environ.get(_VARIABLE, "text")
    os.environ[_VARIABLE] = found
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if found == "json" else logging.Formatter("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=found == "json")


def is_json() -> bool:
    """Whether lines are for programs."""
    return os.environ.get(_VARIABLE) == "json"
