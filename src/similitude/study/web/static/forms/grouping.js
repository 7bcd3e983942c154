// Items that are sorted into piles: there is always one empty pile more, up to one for each item.

import { fill, make } from "../dom.js";
import { confirmRow, draggable, nextWithout } from "../moving.js";
import { answersOf, cardsOf, move } from "../parts.js";

export default function grouping(views, setup, answer) {
  const { texts } = setup;
  const pileOf = setup.draft.read() ?? views.map(() => null);
  let taken = nextWithout(pileOf, 0);
  const row = confirmRow(setup, () => answer(pileOf));
  const cards = cardsOf(views, setup, take).map((one) => ({ ...one, name: one.button.ariaLabel }));
  const buttons = cards.map((one) => one.button);
  const tray = make("div", { class: "tray", role: "group", "aria-label": texts.not_sorted });
  const piles = views.map((_, pile) => {
    const put = make("button", { class: "put", onclick: () => putInto(pile) },
      make("kbd", { "aria-hidden": "true" }, pile < 9 ? String(pile + 1) : ""), fill(texts.pile, { number: pile + 1 }));
    const inside = make("div", { class: "inside" });
    return { put, inside, element: make("div", { class: "pile", "data-pile": pile }, put, inside) };
  });

  function take(k) {
    taken = k;
    show();
  }

  function putInto(pile) {
    if (taken < 0) return;
    const moved = taken;
    pileOf[moved] = pile;
    setup.draft.keep(pileOf);
    const next = nextWithout(pileOf, moved);
    take(next);
    (next < 0 ? row.confirm : buttons[next]).focus({ preventScroll: true });
  }

  function show() {
    const used = 1 + Math.max(-1, ...pileOf.filter((pile) => pile !== null));
    piles.forEach(({ element }, pile) => (element.hidden = pile > Math.max(used, 1)));
    cards.forEach((one, k) => {
      const home = pileOf[k] === null ? tray : piles[pileOf[k]].inside;
      if (one.element.parentElement !== home) home.append(one.element);
      const where = pileOf[k] === null ? texts.not_sorted : fill(texts.pile, { number: pileOf[k] + 1 });
      one.button.setAttribute("aria-label", `${one.name}, ${where}`);
      one.button.setAttribute("aria-pressed", k === taken);
    });
    tray.classList.toggle("empty", !pileOf.includes(null));
    row.show(pileOf);
  }

  cards.forEach((one, k) => draggable(one.element, one.button, {
    touch: false,
    begin: () => take(k),
    drop: (x, y) => {
      const pile = document.elementsFromPoint(x, y).map((found) => found.closest(".pile")).find(Boolean);
      if (pile) putInto(Number(pile.dataset.pile));
    },
  }));
  show();
  const all = answersOf("piles", piles.map((pile) => pile.element), setup);
  return {
    element: make("div", { class: `form ${setup.form}` }, tray, all, row.element),
    controls: [...buttons, ...piles.map((pile) => pile.put)],
    key: (event) => {
      const pile = /^[1-9]$/.test(event.key) ? piles[Number(event.key) - 1] : null;
      if (pile && !pile.element.hidden) pile.put.click();
      else if (move(event, buttons)) take(buttons.indexOf(document.activeElement));
      else return false;
      return true;
    },
    same: (one, other) => String(byFirst(one)) === String(byFirst(other)),
    mark: (response) => {
      response.forEach((pile, k) => (pileOf[k] = pile));
      take(-1);
      cards.forEach((one) => one.element.classList.add("expected"));
    },
    off: () => (row.confirm.disabled = true),
    keys: texts.keys_piles,
  };
}

/** Piles numbered as they come. */
function byFirst(response) {
  return response.map((pile) => response.indexOf(pile));
}
