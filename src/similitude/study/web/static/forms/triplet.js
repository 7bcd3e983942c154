// A head on top, and two cards below: which is more like it?

import { cardsOf, headOf, pickOne } from "../parts.js";

export default function triplet(views, setup, answer) {
  const [head, ...others] = views;
  const cards = cardsOf(others, setup, (k) => answer([k + 1]));
  return pickOne({ top: headOf(head, setup), cards, codes: [1, 2], setup });
}
