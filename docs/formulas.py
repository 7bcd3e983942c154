"""Formulas as MathML, which every browser draws by itself: no script, no fonts, and nothing asked of other hosts."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def setup(app: Any) -> dict[str, bool]:
    """Make `mathml` a way to write mathematics, beside those that Sphinx has."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True}


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _display(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
