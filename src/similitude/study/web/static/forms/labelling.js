// One item and the classes below; then how sure one is.

import { fill, make } from "../dom.js";
import { answersOf, digit, move, scaleRow, withBelow, wordButton } from "../parts.js";

const CONFIDENCES = [0, 0.25, 0.5, 0.75, 1];

export default function labelling(views, setup, answer) {
  let label = null;
  const classes = setup.classes.map((name, k) => wordButton(name, k + 1, () => choose(k)));
  const sure = scaleRow([1, 2, 3, 4, 5], setup.texts.confidence_low, setup.texts.confidence_high,
    (number) => answer([label, CONFIDENCES[number - 1]]));
  const second = make("div", { class: "second", role: "group", "aria-label": setup.texts.confidence },
    make("p", { class: "ask", dir: "auto" }, setup.texts.confidence), sure.element);
  const choose = (k) => {
    label = k;
    classes.forEach((button, other) => button.setAttribute("aria-pressed", other === k));
    sure.buttons.forEach((button) => (button.disabled = k === null));
    if (k !== null) sure.buttons[2].focus();
  };
  const below = make("div", {}, answersOf("words", classes, setup), second);
  choose(null);
  return withBelow(views, below, setup, {
    controls: classes,
    key: (event) => {
      if (event.key === "Escape" && label !== null) {
        choose(null);
        classes[0].focus();
        return true;
      }
      const now = label === null ? classes : sure.buttons;
      return digit(event, now) || move(event, now);
    },
    same: (one, other) => one[0] === other[0], // whatever the confidence
    mark: ([code]) => classes[code].classList.add("expected"),
    off: () => sure.buttons.forEach((button) => (button.disabled = true)),
    keys: fill(setup.texts.keys_labelling, { last: Math.min(classes.length, 9) }),
  });
}
