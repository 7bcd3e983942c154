"""What is installed only where it is asked for: each extra of the package, the modules it brings, and how to get it.

A command asks at its start (`need`), so that nobody waits for a result that cannot be written down.
"""

from __future__ import annotations

import importlib.util

EXTRAS = {
    "parquet": ("pyarrow",),
    "tables": ("openpyxl", "odf", "pyreadstat", "pyreadr", "h5py"),
    "study": (
        "fastapi", "starlette", "uvicorn", "httptools", "sqlalchemy", "alembic", "markdown_it", "psycopg", "argon2",
        "pydantic", "plotly", "tomlkit",
    ),
    "serve": ("fastapi", "uvicorn", "httptools", "pydantic"),
    "onnx": ("onnx",),
    "faiss": ("faiss",),
    "hnswlib": ("hnswlib",),
    "annoy": ("annoy",),
    "gpu": ("torch",),
    "distributed": ("dask", "distributed"),
}  # fmt: skip


CALLED = {"odf": "odfpy", "markdown_it": "markdown-it-py", "argon2": "argon2-cffi", "faiss": "faiss-cpu"}  # by pip


def missing(extra: str) -> list[str]:
    """The modules of an extra that are not installed; none of them is imported to find out."""
    return [module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None]


def need(extra: str, what: str, *modules: str) -> None:
    """Say what to install, where something needs an extra that is not there.

    Parameters
    ----------
    extra : a name in `EXTRAS`
    what : what needs it, as the first words of a sentence: "a study", "a Parquet file"
    modules : those of the extra that it needs; all where none are given
    """
    if absent := [CALLED.get(module, module) for module in missing(extra) if not modules or module in modules]:
        names, are = ", ".join(absent), "is" if len(absent) == 1 else "are"
        raise ModuleNotFoundError(f'{what} needs {names}, which {are} not installed: pip install "similitude[{extra}]"')
