"""The documentation: Markdown pages, an executed gallery, and a reference made from docstrings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # executed.py, formulas.py, pictures.py

import similitude  # noqa: E402

project = "similitude"
author = "The similitude developers"
copyright = "the similitude developers"  # noqa: A001  the name that Sphinx looks for
version = release = similitude.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "executed",
    "formulas",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build", "_templates", "notebooks/*.ipynb", *(f"gallery/*.{suffix}" for suffix in ("ipynb", "py", "md5", "json")),
]  # fmt: skip
highlight_language = "none"
default_role = "code"
nitpicky = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_math_renderer = "mathml"
html_title = "similitude"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}

autosummary_generate = True
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = ["Returns", "Attributes"]

plot_html_show_source_link = False
plot_html_show_formats = False
plot_include_source = False
plot_formats = [("png", 150)]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"[\\/]plot_",  # examples on real data (real_*.py) show stored pictures instead
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": None,
    "download_all_examples": False,
    "min_reported_time": 1000,
    "remove_config_comments": True,
    "capture_repr": (),
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "only_warn_on_example_error": False,
    "abort_on_example_error": True,
}

_SECTION = re.compile(r"^-{3,}\s*$")
_FIELD = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")
_WRITTEN = re.compile(r"(`[^`]*`)")


def setup(app: Any) -> None:
    """Connect what makes short docstrings readable."""
    app.connect("autodoc-process-docstring", _plain_docstring, priority=400)  # before napoleon, which is at 500
    app.connect("autodoc-skip-member", _skip_requests)


def _plain_docstring(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = _in_sections(lines)


def _in_sections(lines: list[str]) -> list[str]:
    """Turn `name : meaning` into what napoleon wants (parameters) or into a list (attributes); bars are plain text."""
    section, result = "", []
    for k, line in enumerate(lines):
        if k + 1 < len(lines) and _SECTION.match(lines[k + 1]):
            section = line.strip()
        field = _FIELD.match(line)
        if field and section == "Parameters":
            result += [field[1], f"    {_without_bars(field[2])}"]
        elif field and section == "Attributes":
            result.append(f"- ``{field[1].replace(', ', '``, ``')}``: {_without_bars(field[2])}")
        elif section == "Attributes" and line.startswith("    "):
            result.append(f"  {_without_bars(line.strip())}")
        else:
            result.append(_without_bars(line))
    return result


def _without_bars(line: str) -> str:
    if line.lstrip().startswith((">>>", "...", "|")):
        return line
    return "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in _WRITTEN.split(line))


def _skip_requests(_app: Any, _what: str, name: str, *_: Any) -> bool | None:
    """Leave out scikit-learn's metadata requests and output settings, which its own pages explain."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing|set_output", name) else None
