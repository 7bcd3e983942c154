"""The consistency report as one self-contained HTML page: no scripts, nothing loaded from anywhere."""

from __future__ import annotations

import numpy as np

import similitude
from similitude.display.templates import templates
from similitude.graph.consistency import ConsistencyReport
from similitude.plot.feedback import rater_agreement
from similitude.plot.style import in_page


def consistency_page(report: ConsistencyReport, title: str = "Can these answers be trusted?") -> str:
    """Return a report of `similitude.check` as HTML."""
    compared = np.isfinite(report.raters.agreement).any()
    raters = in_page(rater_agreement(report)) if compared else None
    page = templates("similitude.analysis").get_template("consistency.html")
    return page.render(title=title, report=report, raters=raters, version=similitude.__version__)
