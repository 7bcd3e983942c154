// A head on top, and a grid below, of which several are picked: the most alike first.

import { fill } from "../dom.js";
import { pickSeveral } from "../grid.js";
import { headOf } from "../parts.js";

export default function ranking([head, ...views], setup, answer) {
  const prompt = (picked) => fill(setup.texts.picked, { picked, pick: setup.pick });
  const marks = (place) => String(place + 1);
  const says = (place) => fill(setup.texts.in_order, { number: place + 1 });
  return pickSeveral({ top: headOf(head, setup), views, first: 1, number: setup.pick, marks, says, prompt, setup, answer });
}
