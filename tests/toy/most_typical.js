// Four cards: which is the most typical?

import { cardsOf, pickOne } from "../parts.js";

export default function most_typical(views, setup, answer) {
  const cards = cardsOf(views, setup, (k) => answer([k]));
  return pickOne({ cards, codes: [0, 1, 2, 3], setup });
}
