"""Chromium of the system, for what is measured and tested in a browser.

Debian's `chromium-headless-shell` is preferred where it is: the same engine without windows and menus around it, for a
quarter of the processor time that a page of its own takes in the whole browser.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")


def chromium_path() -> str | None:
    """What SIMILITUDE_CHROMIUM names, or the first program that is installed; None where there is none."""
    return os.environ.get("SIMILITUDE_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser for as long as it is used."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        yield browser
        browser.close()
