"""Firefox of the system, driven through WebDriver BiDi: no driver program between, a websocket is all it takes.

A page has the few methods of a Playwright page that the tests of both browsers share; selectors are CSS.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websocket

from tests.patience import PATIENCE, until

_KEYS = {
    "Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
    "ArrowRight": "\ue014", "ArrowDown": "\ue015", " ": " ",
}  # fmt: skip
_SETTINGS = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
_DARK, _LIGHT = 0, 1
_PLACE = """([selector, position]) => {
  const one = document.querySelector(selector);
  window.clickArrived = false;
  one.addEventListener("click", () => (window.clickArrived = true), { once: true, capture: true });
  one.scrollIntoView({ block: "center" });
  const { left, top, width, height } = one.getBoundingClientRect();
  const { x, y } = position ?? { x: width / 2, y: height / 2 };
  return [Math.round(left + x), Math.round(top + y)];
}"""
_ARRIVED = "window.clickArrived !== false"  # another page, which knows nothing of it, shows that the click arrived
_HOLDS = "([selector, text]) => document.querySelector(selector).value === text"
_SECOND_TRY = 5.0  # seconds without a sign of a click
_SHOWN = "selector => [...document.querySelectorAll(selector)].some((one) => one.checkVisibility())"


def path_or_skip() -> str:
    """The program; where there is none, CI fails and other machines skip."""
    named = os.environ.get("SIMILITUDE_FIREFOX")
    path = named or shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        said = "no firefox: install it (apt-get install firefox-esr), or name it in SIMILITUDE_FIREFOX"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
    return path


@contextlib.contextmanager
def firefox(color_scheme: str = "light", **settings: Any) -> Iterator[FirefoxPage]:
    """A page in a Firefox of its own, whose profile is gone at the end."""
    scheme = {"layout.css.prefers-color-scheme.content-override": _DARK if color_scheme == "dark" else _LIGHT}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in (_SETTINGS | scheme | settings).items()]
        (Path(profile) / "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [path_or_skip(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            found = next((at for line in process.stderr if (at := re.search(r"ws://\S+", line))), None)
            assert found, "Firefox did not start"
            with contextlib.closing(_Session(found[0])) as session:
                yield FirefoxPage(session)
        finally:
            process.terminate()
            process.wait(PATIENCE)
            process.stderr.close()


class _Session:
    """Commands to a browser, one at a time."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(f"{address}/session", timeout=PATIENCE, suppress_origin=True)
        self._number = 0
        self.ask("session.new", {"capabilities": {}})

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            reply = json.loads(self._socket.recv())
            if reply.get("id") == self._number:
                assert reply["type"] == "success", f"{method}: {reply.get('error')}: {reply.get('message')}"
                return reply["result"]

    def close(self) -> None:
        self._socket.close()


class FirefoxPage:
    """One page, with the methods of a Playwright page that the tests of both browsers need."""

    def __init__(self, session: _Session) -> None:
        self._session = session
        self._context: str | None = None
        self.new_rater()

    def new_rater(self) -> None:
        """Begin anew as somebody whom no page remembers."""
        before = self._context
        user = self._session.ask("browser.createUserContext", {})["userContext"]
        made = self._session.ask("browsingContext.create", {"type": "tab", "userContext": user})
        self._context = made["context"]
        if before is not None:
            self._session.ask("browsingContext.close", {"context": before})
        self.set_viewport_size({"width": 1280, "height": 800})

    @property
    def keyboard(self) -> FirefoxPage:
        return self

    def goto(self, address: str) -> None:
        self._session.ask("browsingContext.navigate", {"context": self._context, "url": address, "wait": "complete"})

    def reload(self) -> None:
        self._session.ask("browsingContext.reload", {"context": self._context, "wait": "complete"})

    def set_viewport_size(self, size: dict[str, int]) -> None:
        self._session.ask("browsingContext.setViewport", {"context": self._context, "viewport": size})

    def screenshot(self, path: Path) -> None:
        shot = self._session.ask("browsingContext.captureScreenshot", {"context": self._context})
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """What a function, or an expression, gives in the page; through JSON, so that any plain value comes back."""
        is_function = re.match(r"\s*(async\b|function\b|\w+ =>|\()", code)
        called = f"({code})({json.dumps(argument)})" if is_function else f"({code})"
        expression = f"(async () => JSON.stringify(await {called}) ?? 'null')()"
        told = {"expression": expression, "target": {"context": self._context}, "awaitPromise": True}
        result = self._session.ask("script.evaluate", told)
        assert result["type"] == "success", result.get("exceptionDetails", {}).get("text")
        return json.loads(result["result"]["value"])

    def wait_for_selector(self, selector: str) -> None:
        until(lambda: self.evaluate(_SHOWN, selector), lambda: self._instead_of(selector))

    def _instead_of(self, selector: str) -> str:
        return f"{selector} was not shown; the page says: {self.evaluate('document.body.innerText')[:500]}"

    def click(self, selector: str, position: dict[str, float] | None = None) -> None:
        """Click on an element; again where the click met something else, as it may while the page is being drawn."""
        self.wait_for_selector(selector)
        until(lambda: self._click_arrives(selector, position), f"no click arrived at {selector}")

    def _click_arrives(self, selector: str, position: dict[str, float] | None) -> bool:
        x, y = self.evaluate(_PLACE, [selector, position])
        moves = [{"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}]
        self._act("pointer", [*moves, {"type": "pointerUp", "button": 0}])
        end = time.monotonic() + _SECOND_TRY
        while not (arrived := self.evaluate(_ARRIVED)) and time.monotonic() < end:
            time.sleep(0.02)
        return arrived

    def fill(self, selector: str, text: str) -> None:
        self.click(selector)
        for sign in text:
            self.press(sign)
        until(lambda: self.evaluate(_HOLDS, [selector, text]), f"{selector} does not hold {text!r}")

    def press(self, key: str) -> None:
        value = _KEYS.get(key, key)
        self._act("key", [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}])

    def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        source = {"type": kind, "id": kind, "actions": actions}
        self._session.ask("input.performActions", {"context": self._context, "actions": [source]})
