// What the pages of the forms are made of. The script of a form, `forms/<its name>.js`, exports one function: it takes
// the items' views, the setup of the study and `answer`, which it calls with the code that the server expects of the
// form (`similitude/feedback/forms`); `setup.draft` keeps what was begun of a long answer. It gives
//   element   what is shown; its class is the form's name
//   controls  the buttons that answer; off until the items are there to be seen
//   key(event)  whether a key meant something to it
//   mark(response)  shows which answer was expected, after a practice question
//   keys      what the keyboard does, in words
//   holds     whether its keys may be held down, to go on
//   off()     where more than the controls must be switched off
//   same(one, other)  whether two responses say the same, where that is not the same numbers in any order

import { fill, make } from "./dom.js";

/** A card that answers when it is pressed; sounds and films keep their own controls, and a button below them. */
export function card(views, number, label, setup, press) {
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

/** A card for each of some items, which calls `press` with its place when it is pressed. */
export function cardsOf(views, setup, press) {
  return views.map((view, k) => card([view], k + 1, `${k + 1} ${view.label}`, setup, () => press(k)));
}

/** An item with its button to enlarge it, where there is one. */
export function cell(view) {
  return make("div", { class: "cell" }, view.element, view.larger);
}

export function headOf(view, setup) {
  return make("div", { class: "head", role: "group", "aria-label": setup.texts.head_item }, cell(view));
}

/** The group of what can be answered. */
export function answersOf(kind, children, setup) {
  return make("div", { class: kind, role: "group", "aria-label": setup.texts.answers }, ...children);
}

/** Cards of which one is picked; `codes` are those of the cards, `top` is what stands above them. */
export function pickOne({ top = null, cards, codes, setup }) {
  const buttons = cards.map((one) => one.button);
  const group = answersOf("cards", cards.map((one) => one.element), setup);
  const two = buttons.length === 2;
  return {
    element: make("div", { class: `form ${setup.form}` }, top, group),
    controls: buttons,
    key: (event) => digit(event, buttons) || (two ? twoKeys(event, buttons) : move(event, buttons)),
    mark: (response) => response.forEach((code) => cards[codes.indexOf(code)].element.classList.add("expected")),
    keys: two ? setup.texts.keys_two : fill(setup.texts.keys_several, { last: Math.min(buttons.length, 9) }),
  };
}

/** Items side by side, and what answers below them. */
export function withBelow(views, below, setup, rest) {
  const items = make("div", { class: "pair" }, ...views.map((view) => make("div", { class: "card" }, cell(view))));
  return { element: make("div", { class: `form ${setup.form}` }, items, below), ...rest };
}

export function wordButton(word, number, press) {
  const badge = number <= 9 ? make("kbd", { "aria-hidden": "true" }, String(number)) : null;
  return make("button", { class: "word", onclick: press }, badge, make("span", { dir: "auto" }, word));
}

export function directed(text) {
  return make("span", { dir: "auto" }, text);
}

export function scaleRow(numbers, low, high, press) {
  const last = numbers.length;
  const buttons = numbers.map((number) => {
    const end = number === 1 ? `, ${low}` : number === last ? `, ${high}` : "";
    return make("button", { class: "step", "aria-label": `${number}${end}`, onclick: () => press(number) }, String(number));
  });
  const ends = make("div", { class: "ends", "aria-hidden": "true" }, directed(low), directed(high));
  return { element: make("div", { class: "scale" }, make("div", { class: "steps" }, ...buttons), ends), buttons };
}

export function digit(event, buttons) {
  const button = /^[1-9]$/.test(event.key) ? buttons[Number(event.key) - 1] : null;
  button?.click();
  return Boolean(button);
}

/** Left and right answer at once where there are two answers. */
export function twoKeys(event, buttons) {
  const at = { ArrowLeft: 0, ArrowRight: 1, 1: 0, 2: 1 }[event.key];
  if (at === undefined) return false;
  buttons[at].click();
  return true;
}

/** Arrows lead from answer to answer; Enter is the button's own. */
export function move(event, buttons) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (!step) return false;
  const at = buttons.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : buttons.length - 1) : (at + step + buttons.length) % buttons.length;
  buttons[next].focus();
  return true;
}
