// A grid of cards of which several are picked, in an order that matters or not; then they are confirmed.

import { fill, make } from "./dom.js";
import { answersOf, cardsOf, digit, move } from "./parts.js";

const SURROUND = 48; // pixels beside a grid

/**
 * `number` of the cards are picked; the code of a card is its place and `first`. `marks` says what is written on a card
 * that was picked first, second and so on, where the order matters, and `says` is that for who hears it; `prompt` says
 * what to do when so many are picked.
 */
export function pickSeveral({ top = null, views, first = 0, number, marks = null, says = marks, prompt, setup, answer }) {
  let picked = setup.draft.read() ?? [];
  const cards = cardsOf(views, setup, (k) => toggle(k + first)).map((one) => ({ ...one, name: one.button.ariaLabel }));
  const buttons = cards.map((one) => one.button);
  const badges = cards.map((one) => one.element.appendChild(make("span", { class: "rank", dir: "auto", "aria-hidden": "true", hidden: true })));
  const count = make("span", { class: "count", role: "status", dir: "auto" });
  const inOrder = () => (marks ? [...picked] : [...picked].sort((a, b) => a - b));
  const confirm = make("button", { class: "main", onclick: () => answer(inOrder()) }, setup.texts.confirm);
  const show = () => {
    cards.forEach((one, k) => {
      const place = picked.indexOf(k + first);
      const mark = place < 0 || !marks ? "" : marks(place);
      one.button.setAttribute("aria-pressed", place >= 0);
      one.button.setAttribute("aria-label", mark ? `${one.name}, ${says(place)}` : one.name);
      badges[k].textContent = mark;
      badges[k].hidden = !mark;
    });
    count.textContent = prompt(picked.length);
    confirm.disabled = picked.length !== number;
  };
  const toggle = (code) => {
    if (number === 1) return answer([code]);
    if (picked.includes(code)) picked = picked.filter((other) => other !== code);
    else if (picked.length < number) picked.push(code);
    setup.draft.keep(picked);
    show();
    if (!confirm.disabled) confirm.focus();
  };
  show();
  const element = make("div", { class: `form grid ${setup.form}` }, top, answersOf("cards", cards.map((one) => one.element), setup));
  if (number > 1) element.append(make("div", { class: "confirm" }, count, confirm));
  keepColumns(element, views, top !== null, setup.over);
  return {
    element,
    controls: buttons,
    key: (event) => digit(event, buttons) || move(event, buttons),
    mark: (response) => {
      picked = response;
      show();
      response.forEach((code) => cards[code - first].element.classList.add("expected"));
    },
    keys: fill(number > 1 ? setup.texts.keys_pick : setup.texts.keys_several, { last: Math.min(cards.length, 9) }),
    off: () => (confirm.disabled = true),
    ...(marks ? { same: (one, other) => String(one) === String(other) } : {}),
  };
}

/** Keep a grid in columns that suit the screen, however that is turned. */
function keepColumns(element, views, hasTop, over) {
  const arrange = () => {
    const columns = columnsOf(views.length, Math.max(...views.map(narrowest)), hasTop ? 2 : 4);
    element.style.setProperty("--columns", columns);
    element.style.setProperty("--lines", Math.ceil(views.length / columns) + hasTop);
  };
  arrange();
  window.addEventListener("resize", arrange, { signal: over });
}

/** Columns of a grid: nearly square on a phone, wider on a wide screen; rows as even as can be, and wide enough. */
function columnsOf(count, narrowest, stretch) {
  const wide = window.innerWidth > 1.2 * window.innerHeight;
  const fitting = Math.max(1, Math.floor((document.documentElement.clientWidth - SURROUND) / narrowest));
  const most = Math.min(count, fitting, Math.max(2, Math.ceil(Math.sqrt(count * (wide ? stretch : 1)))));
  return Math.ceil(count / Math.ceil(count / most));
}

/** Pixels that a card of the grid needs to be of use, the space beside it with it. */
function narrowest(view) {
  const kinds = { audio: 180, video: 130, text: 130 };
  const kind = Object.keys(kinds).find((name) => view.element.classList.contains(name));
  return kinds[kind] ?? 84;
}
