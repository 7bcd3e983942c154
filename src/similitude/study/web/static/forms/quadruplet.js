// Two cards with a pair each: which pair is more alike?

import { fill } from "../dom.js";
import { card, pickOne } from "../parts.js";

export default function quadruplet(views, setup, answer) {
  const pairs = [views.slice(0, 2), views.slice(2)];
  const cards = pairs.map((pair, k) => {
    const label = fill(setup.texts.pair, { number: k + 1, first: pair[0].label, second: pair[1].label });
    return card(pair, k + 1, label, setup, () => answer([k]));
  });
  return pickOne({ cards, codes: [0, 1], setup });
}
