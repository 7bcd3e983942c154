// Three cards: which is the odd one out?

import { cardsOf, pickOne } from "../parts.js";

export default function odd_one_out(views, setup, answer) {
  const cards = cardsOf(views, setup, (k) => answer([k]));
  return pickOne({ cards, codes: [0, 1, 2], setup });
}
