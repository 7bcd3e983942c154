// A pair, and a scale below: buttons, or a slider where it is long.

import { fill, make } from "../dom.js";
import { answersOf, digit, directed, move, scaleRow, withBelow } from "../parts.js";

const WIDEST_ROW = 11; // a longer scale is a slider

export default function similarity_rating(views, setup, answer) {
  return setup.scale <= WIDEST_ROW ? ratingRow(views, setup, answer) : ratingSlider(views, setup, answer);
}

function ratingRow(views, setup, answer) {
  const numbers = Array.from({ length: setup.scale }, (_, k) => k + 1);
  const row = scaleRow(numbers, setup.low, setup.high, (number) => answer([number]));
  return withBelow(views, answersOf("", [row.element], setup), setup, {
    controls: row.buttons,
    key: (event) => digit(event, row.buttons) || move(event, row.buttons),
    mark: ([code]) => row.buttons[code - 1].classList.add("expected"),
    keys: fill(setup.texts.keys_several, { last: Math.min(setup.scale, 9) }),
  });
}

function ratingSlider(views, setup, answer) {
  const start = Math.round((1 + setup.scale) / 2);
  const shown = make("output", { class: "value" }, "–");
  const slider = make("input", {
    type: "range", min: 1, max: setup.scale, value: start, "aria-label": `${setup.low} – ${setup.high}`,
    oninput: () => touched(),
  });
  const confirm = make("button", { class: "main", disabled: true, onclick: () => answer([Number(slider.value)]) },
    setup.texts.confirm);
  let moved = false;
  const touched = () => {
    moved = true;
    shown.textContent = slider.value;
    confirm.disabled = slider.disabled;
  };
  slider.addEventListener("pointerup", touched);
  const ends = make("div", { class: "ends" }, directed(setup.low), shown, directed(setup.high));
  const below = make("div", { class: "slider" }, slider, ends, confirm);
  const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  return withBelow(views, below, setup, {
    controls: [slider],
    mark: ([code]) => (shown.textContent = `${slider.value} → ${code}`),
    key: (event) => {
      if (event.key === "Enter" && moved) confirm.click();
      else if (event.key in step && event.target !== slider) {
        slider.focus();
        slider.value = Number(slider.value) + step[event.key];
        touched();
      } else return false;
      return true;
    },
    off: () => (confirm.disabled = true),
    keys: setup.texts.keys_slider,
  });
}
