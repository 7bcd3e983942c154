// A head on top, and a grid below, of which one or several are picked.

import { fill, make } from "../dom.js";
import { cardsOf, headOf, pickOne } from "../parts.js";

const SURROUND = 48; // pixels beside a grid

export default function choice(views, setup, answer) {
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
  const cards = cardsOf(others, setup, (k) => toggle(k + 1));
  const form = pickOne({ top: headOf(head, setup), cards, codes: cards.map((_, k) => k + 1), setup });
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
