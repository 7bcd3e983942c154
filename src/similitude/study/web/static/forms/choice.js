// A head on top, and a grid below, of which one or several are picked.

import { fill } from "../dom.js";
import { pickSeveral } from "../grid.js";
import { headOf } from "../parts.js";

export default function choice([head, ...views], setup, answer) {
  const prompt = (picked) => fill(setup.texts.picked, { picked, pick: setup.pick });
  return pickSeveral({ top: headOf(head, setup), views, first: 1, number: setup.pick, prompt, setup, answer });
}
