// Items that are moved: dragged, or taken by a press and put down by another. One of them is always taken, the next
// that has no place yet, so that a press on a place is enough for each; the script of a form says what the places are.

import { fill, make } from "./dom.js";

const STIRRED = 6; // pixels that a pointer moves before it drags; less is a press

/**
 * Let an element be dragged by `handle`. `drop(x, y)` gets where the pointer let go; the element has not moved back yet.
 * Without `touch`, fingers scroll the page instead, and press.
 */
export function draggable(element, handle, { touch, begin, drop }) {
  let from = null;
  let drags = false;
  handle.classList.toggle("by-touch", touch);
  const end = (event, dropped) => {
    if (from === null) return;
    if (drags && dropped) drop(event.clientX, event.clientY);
    element.classList.remove("dragged");
    element.style.translate = "";
    from = null;
  };
  handle.addEventListener("pointerdown", (event) => {
    if (handle.disabled || event.button > 0 || (event.pointerType === "touch" && !touch)) return;
    from = { x: event.clientX, y: event.clientY };
    drags = false;
    try {
      handle.setPointerCapture(event.pointerId);
    } catch {
      // a touch that has ended by now is no longer there to be followed
    }
  });
  handle.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (!drags && Math.hypot(x, y) < STIRRED) return;
    if (!drags) begin();
    drags = true;
    element.classList.add("dragged");
    element.style.translate = `${x}px ${y}px`;
  });
  handle.addEventListener("pointerup", (event) => end(event, true));
  handle.addEventListener("pointercancel", (event) => end(event, false));
  handle.addEventListener("click", (event) => {
    if (drags) event.stopImmediatePropagation(); // what ends a drag is no press
    drags = false;
  }, true);
}

/** Call `press` where an element itself is pressed; a click is not waited for, which browsers leave out after a drag. */
export function pressable(element, press) {
  let from = null;
  element.addEventListener("pointerdown", (event) => {
    from = event.target === element && event.button === 0 ? event : null;
  });
  element.addEventListener("pointerup", (event) => {
    const pressed = from !== null && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < STIRRED;
    from = null;
    if (!pressed) return;
    dropClick();
    press(event);
  });
}

/** The click by which a press ends is for nobody: what the press put under the finger would take it for its own. */
function dropClick() {
  const over = new AbortController();
  const first = { capture: true, signal: over.signal };
  document.addEventListener("click", (event) => {
    if (event.detail > 0) event.stopImmediatePropagation(); // keys click, too, with 0
  }, first);
  document.addEventListener("pointerdown", () => over.abort(), first);
}

/** How many are in place, and the button that confirms them all. */
export function confirmRow(setup, confirmed) {
  const count = make("span", { class: "count", role: "status", dir: "auto" });
  const confirm = make("button", { class: "main", onclick: confirmed }, setup.texts.confirm);
  const tools = make("span", { class: "tools" });
  const show = (places) => {
    const picked = places.filter((place) => place !== null).length;
    count.textContent = fill(setup.texts.in_place, { picked, pick: places.length });
    confirm.disabled = picked < places.length;
  };
  return { element: make("div", { class: "confirm" }, tools, count, confirm), tools, confirm, show };
}

/** The next that has no place, from one on; -1 where all have. */
export function nextWithout(places, from) {
  const order = places.map((_, k) => (from + k) % places.length);
  return order.find((k) => places[k] === null) ?? -1;
}
