// A grid of items that are put in order by pressing them one after the other.

import { fill } from "../dom.js";
import { pickSeveral } from "../grid.js";

export default function attribute(views, setup, answer) {
  const number = views.length;
  const prompt = (picked) => fill(setup.texts.picked, { picked, pick: number });
  const marks = (place) => String(place + 1);
  const says = (place) => fill(setup.texts.in_order, { number: place + 1 });
  return pickSeveral({ views, number, marks, says, prompt, setup, answer });
}
