"""`similitude serve`: a model behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from similitude.cli.commands import app, load_model, model_in
from similitude.cli.study import Host, Port, say
from similitude.extras import need


@app.command()
def serve(
    model: Annotated[Path, typer.Argument(help="a model (.sim), or a folder that learn wrote")],
    host: Host = "127.0.0.1",
    port: Port = 8000,
    rows: Annotated[int, typer.Option(min=1, help="vectors, items or comparisons that one request may hold")] = 1024,
    megabytes: Annotated[int, typer.Option(min=1, max=1024, help="size of one request")] = 16,
) -> None:
    """Serve a model until Ctrl+C: positions of vectors, neighbours, predictions; its interface at /openapi.json."""
    need("serve", "a served model")
    from similitude.serving.run import serve as run

    path = model_in(model)
    run(load_model(path), str(path), host, port, rows, megabytes << 20, say)
