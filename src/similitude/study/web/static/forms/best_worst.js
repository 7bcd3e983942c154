// A head on top, and a grid below: first the one that is most like it, then the one that is least like it.

import { pickSeveral } from "../grid.js";
import { headOf } from "../parts.js";

export default function best_worst([head, ...views], setup, answer) {
  const { texts } = setup;
  const prompt = (picked) => [texts.first_most, texts.then_least, texts.both_named][picked];
  const marks = (place) => [texts.most, texts.least][place];
  return pickSeveral({ top: headOf(head, setup), views, first: 1, number: 2, marks, prompt, setup, answer });
}
