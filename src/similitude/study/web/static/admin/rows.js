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
    const row = known ? knownRow(field, value, context) : tableRow(field, `${id}-${count}`, value, context);
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
    place: ([number, ...rest]) => list.children[Number(number)]?.row.place(rest) ?? null,
    follow: () => held().forEach((row) => row.follow()),
  };
}

/** A table within a row: what it does not say, the study's own table of this name says. */
export function table(field, id, context) {
  const element = make("div", { id, class: "table", role: "group", "aria-label": field.key.split(".").pop() });
  let row = null;
  const set = (value) => {
    row = tableRow(field, id, value ?? {}, context);
    element.replaceChildren(row.element);
  };
  set();
  return {
    element, id, set,
    get: () => (Object.keys(row.get()).length ? row.get() : null),
    place: (path) => row.place(path),
    follow: () => row.follow(),
  };
}

/** Where something is wrong is said: beside one field, or at the end of a row. */
function fault(id) {
  return make("p", { class: "wrong", id: id && `${id}-wrong`, hidden: true });
}

function tableRow(field, id, value, context) {
  const made = field.fields.map((one) => {
    const own = control(one, `${id}-${named(one.key).replaceAll(" ", "-")}`, context);
    const name = one.key.split(".").pop();
    own.set(value[name]);
    const holds = one.kind === "rows" || one.kind === "table";
    const label = make(holds ? "span" : "label", { for: holds ? null : own.id, class: "name" }, named(one.key));
    const words = make("span", { class: "small", id: `${own.id}-words` }, one.words.replaceAll("`", ""));
    const wrong = fault(own.id);
    const kind = one.kind === "table" ? "setting wide" : own.inline ? "setting inline" : "setting";
    return { name, own, wrong, element: make("div", { class: kind }, label, own.element, words, wrong) };
  });
  const get = () => Object.fromEntries(made.map(({ name, own }) => [name, own.get()]).filter(([, found]) => found !== null));
  const wrong = fault(id), unused = make("p", { class: "small unused", hidden: true });
  const element = make("div", { class: "row" }, ...made.map((one) => one.element), unused, wrong);
  const place = ([name, ...rest]) => {
    const one = made.find((other) => other.name === name);
    if (!one) return { element, wrong };
    return (rest.length ? one.own.place?.(rest) : null) ?? { element: one.element, wrong: one.wrong };
  };
  const follow = () => {
    if (made.some((one) => one.name === "form")) showUsed(made, context.unused("question", [get().form]), unused);
    for (const { own } of made) own.follow?.();
  };
  follow();
  return { element, get, place, follow };
}

/** Hide the fields that questions do not use, and name them: `unused` has why by name, and the `forms` of the questions. */
export function showUsed(fields, unused, line) {
  for (const one of fields) one.element.hidden = unused.why.has(one.name);
  const hidden = fields.filter((one) => one.element.hidden);
  const names = hidden.map((one) => one.name.replaceAll("_", " ")).join(", ");
  line.hidden = !hidden.length;
  line.textContent = hidden.length ? `Not used by ${unused.forms}: ${names} (${unused.why.get(hidden[0].name)}).` : "";
}

/** What is expected, by the names of items where the answer is places among those shown; a block may be of another form. */
function expected(field, value, context) {
  const picks = ["triplet", "odd_one_out", "choice", "most_central", "ranking", "best_worst", "attribute"];
  const named = !field.key.startsWith("block") && picks.includes(context.form);
  return value.correct.map((code) => (named ? value.shown[code] ?? code : code)).join(", ");
}

function knownRow(field, value, context) {
  const shown = value.shown.map((name) => context.thumbnail(name));
  const said = make("span", { class: "small" }, `expected: ${expected(field, value, context)}`);
  const wrong = fault(null), element = make("div", { class: "known" }, ...shown, said, wrong);
  return { element, get: () => value, place: () => ({ element, wrong }), follow() {} };
}
