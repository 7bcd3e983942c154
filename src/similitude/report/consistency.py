"""The consistency report as one self-contained HTML page: no scripts, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import html
import io
from importlib import resources
from string import Template
from typing import Any

import numpy as np

import similitude
from similitude.graph.consistency import ConsistencyReport
from similitude.plot.feedback import rater_agreement
from similitude.plot.style import pyplot


def consistency_page(report: ConsistencyReport, title: str = "Can these answers be trusted?") -> str:
    """Return a report of `similitude.check` as HTML."""
    template = Template((resources.files("similitude.report") / "consistency.html").read_text(encoding="utf-8"))
    rows = "\n".join(
        f'<tr><td>{html.escape(name)}</td><td class="number">{html.escape(str(figure))}</td>'
        f'<td class="note">{html.escape(figure.note)}</td></tr>'
        for name, figure in report.figures()
    )
    return template.substitute(
        title=html.escape(title),
        verdict=_verdict(report.doubts()),
        figures=rows,
        raters=_raters(report),
        version=similitude.__version__,
    )


def _verdict(doubts: list[str]) -> str:
    if not doubts:
        return '<p class="fine">Nothing stands out.</p>'
    points = "".join(f"<li>{html.escape(doubt)}</li>" for doubt in doubts)
    return f'<div class="look">Worth a look:<ul>{points}</ul></div>'


def _raters(report: ConsistencyReport) -> str:
    if not np.isfinite(report.raters.agreement).any():
        return ""
    axes = rater_agreement(report)
    picture = io.BytesIO()
    figure: Any = axes.get_figure(root=True)
    figure.savefig(picture, format="png", dpi=110, bbox_inches="tight")
    pyplot().close(figure)
    data = base64.b64encode(picture.getvalue()).decode()
    text = "Agreement of each rater with the others, with its interval; the dotted line is chance."
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<h2>Raters</h2><figure>{image}<figcaption>{text}</figcaption></figure>"
