// The seven forms of question. Each takes the items' views and gives
//   element   what is shown
//   controls  the buttons that answer; off until the items are there to be seen
//   key(event)  whether a key meant something to it
//   mark(response)  shows which answer was expected, after a practice question
//   keys      what the keyboard does, in words
// and calls `answer(response)` with the code that the server expects of the form.

import { fill, make } from "./dom.js";

export const FORMS = { triplet, odd_one_out, choice, quadruplet, similarity_rating, same_different, labelling };

const WIDEST_ROW = 11; // a longer scale is a slider
const SURROUND = 48; // pixels beside a grid
const CONFIDENCES = [0, 0.25, 0.5, 0.75, 1];

function triplet(views, setup, answer) {
  const [head, ...others] = views;
  const cards = others.map((view, k) => card([view], k + 1, `${k + 1} ${view.label}`, setup, () => answer([k + 1])));
  return pickOne({ form: "triplet", top: headOf(head, setup), cards, codes: [1, 2], setup });
}

function odd_one_out(views, setup, answer) {
  const cards = views.map((view, k) => card([view], k + 1, `${k + 1} ${view.label}`, setup, () => answer([k])));
  return pickOne({ form: "odd_one_out", cards, codes: [0, 1, 2], setup });
}

function quadruplet(views, setup, answer) {
  const pairs = [views.slice(0, 2), views.slice(2)];
  const cards = pairs.map((pair, k) => {
    const label = fill(setup.texts.pair, { number: k + 1, first: pair[0].label, second: pair[1].label });
    return card(pair, k + 1, label, setup, () => answer([k]));
  });
  return pickOne({ form: "quadruplet", cards, codes: [0, 1], setup });
}

function same_different(views, setup, answer) {
  const words = [setup.texts.same, setup.texts.different];
  const buttons = words.map((word, k) => wordButton(word, k + 1, () => answer([1 - k])));
  return withBelow("same_different", views, answersOf("words two", buttons, setup), {
    controls: buttons,
    key: (event) => twoKeys(event, buttons),
    mark: ([code]) => buttons[1 - code].classList.add("expected"),
    keys: setup.texts.keys_two,
  });
}

function similarity_rating(views, setup, answer) {
  return setup.scale <= WIDEST_ROW ? ratingRow(views, setup, answer) : ratingSlider(views, setup, answer);
}

function ratingRow(views, setup, answer) {
  const numbers = Array.from({ length: setup.scale }, (_, k) => k + 1);
  const row = scaleRow(numbers, setup.low, setup.high, (number) => answer([number]));
  return withBelow("similarity_rating", views, answersOf("", [row.element], setup), {
    controls: row.buttons,
    key: (event) => digit(event, row.buttons) || move(event, row.buttons),
    mark: ([code]) => row.buttons[code - 1].classList.add("expected"),
    keys: fill(setup.texts.keys_several, { last: Math.min(setup.scale, 9) }),
  });
}

function ratingSlider(views, setup, answer) {
  const start = Math.round((1 + setup.scale) / 2);
  const shown = make("output", { class: "value" }, "–");
  const slider = make("input", {
    type: "range", min: 1, max: setup.scale, value: start, "aria-label": `${setup.low} – ${setup.high}`,
    oninput: () => touched(),
  });
  const confirm = make("button", { class: "main", disabled: true, onclick: () => answer([Number(slider.value)]) },
    setup.texts.confirm);
  let moved = false;
  const touched = () => {
    moved = true;
    shown.textContent = slider.value;
    confirm.disabled = slider.disabled;
  };
  slider.addEventListener("pointerup", touched);
  const ends = make("div", { class: "ends" }, directed(setup.low), shown, directed(setup.high));
  const below = make("div", { class: "slider" }, slider, ends, confirm);
  const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  return withBelow("similarity_rating", views, below, {
    controls: [slider],
    mark: ([code]) => (shown.textContent = `${slider.value} → ${code}`),
    key: (event) => {
      if (event.key === "Enter" && moved) confirm.click();
      else if (event.key in step && event.target !== slider) {
        slider.focus();
        slider.value = Number(slider.value) + step[event.key];
        touched();
      } else return false;
      return true;
    },
    off: () => (confirm.disabled = true),
    keys: setup.texts.keys_slider,
  });
}

function choice(views, setup, answer) {
  const [head, ...others] = views;
  const picked = new Set();
  const count = make("span", { class: "count", role: "status", dir: "auto" });
  const confirm = make("button", { class: "main", onclick: () => answer([...picked].sort((a, b) => a - b)) },
    setup.texts.confirm);
  const refresh = () => {
    cards.forEach((one, k) => one.button.setAttribute("aria-pressed", picked.has(k + 1)));
    count.textContent = fill(setup.texts.picked, { picked: picked.size, pick: setup.pick });
    confirm.disabled = picked.size !== setup.pick;
  };
  const toggle = (code) => {
    if (setup.pick === 1) return answer([code]);
    if (picked.has(code)) picked.delete(code);
    else if (picked.size < setup.pick) picked.add(code);
    refresh();
    if (!confirm.disabled) confirm.focus();
  };
  const cards = others.map((view, k) => card([view], k + 1, `${k + 1} ${view.label}`, setup, () => toggle(k + 1)));
  const form = pickOne({ form: "choice", top: headOf(head, setup), cards, codes: cards.map((_, k) => k + 1), setup });
  const arrange = () => {
    const columns = columnsOf(cards.length, Math.max(...others.map(narrowest)));
    form.element.style.setProperty("--columns", columns);
    form.element.style.setProperty("--rows", Math.ceil(cards.length / columns));
  };
  arrange();
  window.addEventListener("resize", arrange, { signal: setup.over });
  if (setup.pick === 1) return form;
  refresh();
  form.element.append(make("div", { class: "confirm" }, count, confirm));
  form.keys = fill(setup.texts.keys_pick, { last: Math.min(cards.length, 9) });
  form.off = () => (confirm.disabled = true);
  return form;
}

function labelling(views, setup, answer) {
  let label = null;
  const classes = setup.classes.map((name, k) => wordButton(name, k + 1, () => choose(k)));
  const sure = scaleRow([1, 2, 3, 4, 5], setup.texts.confidence_low, setup.texts.confidence_high,
    (number) => answer([label, CONFIDENCES[number - 1]]));
  const second = make("div", { class: "second", role: "group", "aria-label": setup.texts.confidence },
    make("p", { class: "ask", dir: "auto" }, setup.texts.confidence), sure.element);
  const choose = (k) => {
    label = k;
    classes.forEach((button, other) => button.setAttribute("aria-pressed", other === k));
    sure.buttons.forEach((button) => (button.disabled = k === null));
    if (k !== null) sure.buttons[2].focus();
  };
  const below = make("div", {}, answersOf("words", classes, setup), second);
  choose(null);
  return withBelow("labelling", views, below, {
    controls: classes,
    key: (event) => {
      if (event.key === "Escape" && label !== null) {
        choose(null);
        classes[0].focus();
        return true;
      }
      const now = label === null ? classes : sure.buttons;
      return digit(event, now) || move(event, now);
    },
    mark: ([code]) => classes[code].classList.add("expected"),
    off: () => sure.buttons.forEach((button) => (button.disabled = true)),
    keys: fill(setup.texts.keys_labelling, { last: Math.min(classes.length, 9) }),
  });
}

// --- pieces ---

/** A card that answers when it is pressed; sounds and films keep their own controls, and a button below them. */
function card(views, number, label, setup, press) {
  const plays = views.some((view) => view.playable);
  const badge = make("kbd", { "aria-hidden": "true" }, number <= 9 ? String(number) : "");
  const read = `${number} ${setup.texts.choose}`; // who speaks to the computer says what can be read on the button
  const named = plays ? `${read} ${views.map((view) => view.label).join(", ")}` : label;
  const button = make("button", { class: plays ? "choose" : "choose whole", "aria-label": named, onclick: press },
    badge, ...(plays ? [" ", setup.texts.choose] : []));
  // the button has the items' names, so that a screen reader says them once
  if (!plays) views.forEach((view) => view.element.setAttribute("aria-hidden", "true"));
  const element = make("div", { class: "card" }, make("div", { class: "items" }, ...views.map(cell)), button);
  return { element, button };
}

/** An item with its button to enlarge it, where there is one. */
function cell(view) {
  return make("div", { class: "cell" }, view.element, view.larger);
}

function headOf(view, setup) {
  return make("div", { class: "head", role: "group", "aria-label": setup.texts.head_item }, cell(view));
}

/** The group of what can be answered. */
function answersOf(kind, children, setup) {
  return make("div", { class: kind, role: "group", "aria-label": setup.texts.answers }, ...children);
}

function pickOne({ form, top = null, cards, codes, setup }) {
  const buttons = cards.map((one) => one.button);
  const group = answersOf("cards", cards.map((one) => one.element), setup);
  const two = buttons.length === 2;
  return {
    element: make("div", { class: `form ${form}` }, top, group),
    controls: buttons,
    key: (event) => digit(event, buttons) || (two ? twoKeys(event, buttons) : move(event, buttons)),
    mark: (response) => response.forEach((code) => cards[codes.indexOf(code)].element.classList.add("expected")),
    keys: two ? setup.texts.keys_two : fill(setup.texts.keys_several, { last: Math.min(buttons.length, 9) }),
  };
}

function withBelow(form, views, below, rest) {
  const items = make("div", { class: "pair" }, ...views.map((view) => make("div", { class: "card" }, cell(view))));
  return { element: make("div", { class: `form ${form}` }, items, below), ...rest };
}

function wordButton(word, number, press) {
  const badge = number <= 9 ? make("kbd", { "aria-hidden": "true" }, String(number)) : null;
  return make("button", { class: "word", onclick: press }, badge, make("span", { dir: "auto" }, word));
}

function directed(text) {
  return make("span", { dir: "auto" }, text);
}

function scaleRow(numbers, low, high, press) {
  const last = numbers.length;
  const buttons = numbers.map((number) => {
    const end = number === 1 ? `, ${low}` : number === last ? `, ${high}` : "";
    return make("button", { class: "step", "aria-label": `${number}${end}`, onclick: () => press(number) }, String(number));
  });
  const ends = make("div", { class: "ends", "aria-hidden": "true" }, directed(low), directed(high));
  return { element: make("div", { class: "scale" }, make("div", { class: "steps" }, ...buttons), ends), buttons };
}

/** Columns of a grid: nearly square on a phone, wider on a wide screen; rows as even as can be, and wide enough. */
function columnsOf(count, narrowest) {
  const wide = window.innerWidth > 1.2 * window.innerHeight;
  const fitting = Math.max(1, Math.floor((document.documentElement.clientWidth - SURROUND) / narrowest));
  const most = Math.min(count, fitting, Math.max(2, Math.ceil(Math.sqrt(count * (wide ? 2 : 1)))));
  return Math.ceil(count / Math.ceil(count / most));
}

/** Pixels that a card of the grid needs to be of use, the space beside it with it. */
function narrowest(view) {
  const kinds = { audio: 180, video: 130, text: 130 };
  const kind = Object.keys(kinds).find((name) => view.element.classList.contains(name));
  return kinds[kind] ?? 84;
}

function digit(event, buttons) {
  const button = /^[1-9]$/.test(event.key) ? buttons[Number(event.key) - 1] : null;
  button?.click();
  return Boolean(button);
}

/** Left and right answer at once where there are two answers. */
function twoKeys(event, buttons) {
  const at = { ArrowLeft: 0, ArrowRight: 1, 1: 0, 2: 1 }[event.key];
  if (at === undefined) return false;
  buttons[at].click();
  return true;
}

/** Arrows lead from answer to answer; Enter is the button's own. */
function move(event, buttons) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (!step) return false;
  const at = buttons.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : buttons.length - 1) : (at + step + buttons.length) % buttons.length;
  buttons[next].focus();
  return true;
}
