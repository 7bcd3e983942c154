// Items that are laid on a round table, alike ones close together. Places are x to the right and y upwards, and the table
// has the radius 1. Where items are too large for the table, numbers are laid on it and the items stand below.

import { fill, make } from "../dom.js";
import { confirmRow, draggable, nextWithout, pressable } from "../moving.js";
import { answersOf, cell } from "../parts.js";

const STEP = 0.06; // of an arrow key
const SMALL_STEP = 0.01; // with Shift
const RIM = 0.9999; // so that rounding leads nobody off the table
const TOO_FAR = 1.3; // dropped that far from the middle, an item has not reached the table
const SHORT_TEXT = 16;
const ALIKE = 0.7; // correlation of the distances of two arrangements that say the same
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export default function placement(views, setup, answer) {
  const { texts } = setup;
  const places = setup.draft.read() ?? views.map(() => null);
  const numbered = views.some((view) => view.playable || (isText(view) && view.label.length > SHORT_TEXT));
  const row = confirmRow(setup, () => answer(places.flat()));
  const chips = views.map((view, k) => chipOf(view, k, numbered));
  const tray = make("div", { class: "tray", role: "group", "aria-label": texts.not_placed });
  const table = make("div", { class: "table", role: "group", "aria-label": texts.table });
  const spoken = make("p", { class: "spoken", role: "status" });
  const under = numbered ? make("div", { class: "numbered" }, ...views.map(numberedCard)) : null;
  let taken = nextWithout(places, 0);

  function take(k) {
    taken = k;
    show();
  }

  function lay(k, x, y) {
    const far = Math.max(Math.hypot(x, y) / RIM, 1);
    places[k] = [x / far, y / far].map((value) => Math.round(1e4 * value) / 1e4);
    setup.draft.keep(places);
    show();
  }

  /** A press on the table puts down what is taken; the next one is taken then. */
  function press(event) {
    if (taken < 0 || chips[taken].disabled) return;
    const laid = taken;
    lay(laid, ...onTable(event.clientX, event.clientY, chips[laid]));
    next(laid);
  }

  function next(laid) {
    const other = nextWithout(places, laid);
    take(other);
    (other < 0 ? row.confirm : chips[other]).focus({ preventScroll: true });
  }

  function onTable(x, y, chip) {
    const { left, top, width } = table.getBoundingClientRect();
    const reach = (width - chip.offsetWidth) / 2; // the middle of an item comes so far
    return [(x - left - width / 2) / reach, (top + width / 2 - y) / reach];
  }

  function show() {
    chips.forEach((chip, k) => {
      const home = places[k] === null ? tray : table;
      if (chip.parentElement !== home) home.append(chip);
      chip.style.setProperty("--x", places[k]?.[0] ?? 0);
      chip.style.setProperty("--y", places[k]?.[1] ?? 0);
      chip.setAttribute("aria-pressed", k === taken);
      chip.setAttribute("aria-label", `${k + 1} ${views[k].label}, ${inWords(k)}`);
    });
    row.tools.replaceChildren(...(taken >= 0 && views[taken].larger ? [views[taken].larger] : []));
    row.show(places);
  }

  function inWords(k) {
    if (places[k] === null) return texts.not_placed;
    const [right, up] = places[k].map((value) => Math.round(100 * value));
    const near = nearest(places, k);
    return fill(near < 0 ? texts.placed : texts.placed_near, { right, up, nearest: near < 0 ? "" : views[near].label });
  }

  function step(event) {
    const arrow = ARROWS[event.key];
    const k = chips.includes(document.activeElement) ? chips.indexOf(document.activeElement) : taken;
    if (!arrow || k < 0 || chips[k].disabled) return false;
    const size = event.shiftKey ? SMALL_STEP : STEP;
    const [x, y] = places[k] ?? [0, 0];
    taken = k;
    lay(k, x + size * arrow[0], y + size * arrow[1]);
    chips[k].focus({ preventScroll: true });
    spoken.textContent = inWords(k);
    return true;
  }

  function putDown(event) {
    const k = chips.indexOf(document.activeElement);
    if (event.key !== "Enter" || k < 0) return false;
    if (places[k] === null) take(k);
    else next(k);
    return true;
  }

  chips.forEach((chip, k) => {
    chip.addEventListener("click", () => take(k));
    draggable(chip, chip, {
      touch: true,
      begin: () => take(k),
      drop: () => {
        const { left, top, width, height } = chip.getBoundingClientRect();
        const [x, y] = onTable(left + width / 2, top + height / 2, chip);
        if (Math.hypot(x, y) > TOO_FAR) return;
        lay(k, x, y);
        if (places.includes(null)) next(k);
      },
    });
  });
  pressable(table, press);
  show();
  const element = make("div", { class: `form ${setup.form}` }, answersOf("board", [tray, table], setup), row.element, under, spoken);
  element.style.setProperty("--crowd", Math.sqrt(views.length).toFixed(3));
  return {
    element,
    controls: chips,
    holds: true,
    key: (event) => step(event) || putDown(event) || number(event, chips, take),
    same: alike,
    mark: (response) => {
      chips.forEach((chip, k) => {
        lay(k, response[2 * k], response[2 * k + 1]);
        chip.classList.add("expected");
      });
      setup.draft.drop();
    },
    off: () => (row.confirm.disabled = true),
    keys: texts.keys_table,
  };
}

function isText(view) {
  return view.element.classList.contains("text");
}

function chipOf(view, k, numbered) {
  if (!numbered) view.element.setAttribute("aria-hidden", "true"); // the button says it
  const kind = numbered ? "number" : isText(view) ? "words" : "";
  return make("button", { class: `chip ${kind}` }, numbered ? String(k + 1) : view.element);
}

function numberedCard(view, k) {
  return make("div", { class: "card" }, make("p", { class: "which" }, String(k + 1)), cell(view));
}

/** A number takes its item. */
function number(event, chips, take) {
  const k = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
  if (!chips[k] || chips[k].disabled) return false;
  take(k);
  chips[k].focus();
  return true;
}

/** Of the others on the table, the one that lies nearest; -1 where there is none. */
function nearest(places, k) {
  const far = places.map((place, other) => (other === k || !place ? Infinity : Math.hypot(place[0] - places[k][0], place[1] - places[k][1])));
  const least = Math.min(...far);
  return least === Infinity ? -1 : far.indexOf(least);
}

/** Whether the distances of two arrangements go together, as the server judges it. */
function alike(one, other) {
  const [first, second] = [distances(one), distances(other)].map((values) => {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return values.map((value) => value - mean);
  });
  const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
  const size = Math.sqrt(dot(first, first) * dot(second, second));
  return size > 0 && dot(first, second) >= ALIKE * size;
}

function distances(response) {
  const found = [];
  for (let i = 0; i < response.length; i += 2)
    for (let j = 0; j < i; j += 2) found.push(Math.hypot(response[i] - response[j], response[i + 1] - response[j + 1]));
  return found;
}
