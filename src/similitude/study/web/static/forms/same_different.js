// A pair, and two words below.

import { answersOf, twoKeys, withBelow, wordButton } from "../parts.js";

export default function same_different(views, setup, answer) {
  const words = [setup.texts.same, setup.texts.different];
  const buttons = words.map((word, k) => wordButton(word, k + 1, () => answer([1 - k])));
  return withBelow(views, answersOf("words two", buttons, setup), setup, {
    controls: buttons,
    key: (event) => twoKeys(event, buttons),
    mark: ([code]) => buttons[1 - code].classList.add("expected"),
    keys: setup.texts.keys_two,
  });
}
