"""Serving a model until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import uvicorn

from similitude.display.words import counted
from similitude.methods.similarity import Similarity
from similitude.serving.app import BODY_BYTES, MOST_ROWS, create_app
from similitude.study.proxies import Proxies
from similitude.study.web.limits import LIMITS
from similitude.study.web.listening import address_of, listen, server_settings, stoppable


def serve(
    similarity: Similarity,
    called: str,
    host: str = "127.0.0.1",
    port: int = 8000,
    most_rows: int = MOST_ROWS,
    body_bytes: int = BODY_BYTES,
    say: Callable[[str], None] = print,
) -> None:
    """Serve a model until the process is told to stop.

    Parameters
    ----------
    similarity : the model
    called : its file, say
    host, port : where to listen; port 0 is any free one
    most_rows, body_bytes : how much one request may ask
    say : takes the lines that tell what is where
    """
    limits = replace(LIMITS, body_bytes=body_bytes)
    with stoppable() as stop, closing(listen(host, port)) as listening:
        base = address_of(host, listening)
        say(f"model          {called}: {counted(similarity.n_items, 'item')}")
        say(f"address        {base}   POST /transform, /neighbors, /predict; GET /stats, /openapi.json")
        say("stop           Ctrl+C")
        app = create_app(similarity, most_rows, body_bytes)
        stop.run(uvicorn.Server(server_settings(app, limits, Proxies())), listening)
