// A list of tables: rows of controls that can be added, moved and taken out. Questions with a known answer are made by
// choosing items, and by answering the question as a rater would.

import { make } from "../dom.js";
import { control } from "./controls.js";
import { makeQuestion } from "./known.js";

const KNOWN = ["practice.questions", "catch.questions"]; // of the study's own question; those of blocks are written out
const named = (key) => key.split(".").pop().replaceAll("_", " ");

export function rows(field, id, context) {
  const known = KNOWN.includes(field.key);
  const list = make("ol", { id, class: "rows" });
  const add = make("button", { type: "button", class: "quiet" }, known ? "Make a question" : "Add a row");
  const element = make("div", {}, list, add);
  let count = 0;
  const changed = () => element.dispatchEvent(new Event("input", { bubbles: true }));
  const held = () => [...list.children].map((line) => line.row);

  function line(value) {
    count += 1;
    const row = known ? knownRow(value, context) : tableRow(field, `${id}-${count}`, value, context);
    const item = make("li", {}, row.element, buttons());
    item.row = row;
    list.append(item);
    return item;
  }

  function buttons() {
    const press = (words, mark, act) => {
      const one = make("button", { type: "button", class: "quiet small-button", "aria-label": words, title: words }, mark);
      one.addEventListener("click", () => { act(one.closest("li")); changed(); });
      return one;
    };
    return make("span", { class: "row-buttons" },
      press("Move up", "↑", (item) => item.previousElementSibling?.before(item)),
      press("Move down", "↓", (item) => item.nextElementSibling?.after(item)),
      press("Take out", "✕", (item) => { item.remove(); add.focus(); }));
  }

  add.addEventListener("click", async () => {
    const value = known ? await makeQuestion(context) : {};
    if (value === null) return add.focus();
    const item = line(value);
    changed();
    (item.querySelector("input, select, textarea") ?? add).focus();
  });

  return {
    element, id, get: () => (list.children.length ? held().map((row) => row.get()) : null),
    set(value) {
      list.replaceChildren();
      for (const one of value ?? []) line(one);
    },
  };
}

function tableRow(field, id, value, context) {
  const made = field.fields.map((one) => {
    const own = control(one, `${id}-${named(one.key).replaceAll(" ", "-")}`, context);
    const name = one.key.split(".").pop();
    own.set(value[name]);
    const label = make("label", { for: own.id }, named(one.key));
    const words = make("span", { class: "small", id: `${own.id}-words` }, one.words.replaceAll("`", ""));
    return { name, own, element: make("div", { class: own.inline ? "setting inline" : "setting" }, label, own.element, words) };
  });
  const get = () => Object.fromEntries(made.map(({ name, own }) => [name, own.get()]).filter(([, found]) => found !== null));
  return { element: make("div", { class: "row" }, ...made.map((one) => one.element)), get };
}

function knownRow(value, context) {
  const shown = value.shown.map((name) => context.thumbnail(name));
  const said = make("span", { class: "small" }, `expected: ${value.correct.join(", ")}`);
  return { element: make("div", { class: "known" }, ...shown, said), get: () => value };
}
