// A control for every kind of setting. Each has an `element`, the id of what its label names, `get()`, the value as
// `study.toml` would have it (null where nothing is given), and `set(value)`, with undefined for what is not given.
// Those that hold others say where one of them is, `place(path)`, and `follow()` what is chosen elsewhere on the page.

import { make } from "../dom.js";
import { rows, table } from "./rows.js";

export function control(field, id, context) {
  return KINDS[field.kind](field, id, context);
}

export const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
const said = (field) => (field.default === null || same(field.default, []) ? "" : String(field.default));
const about = (id) => ({ id, "aria-describedby": `${id}-words ${id}-wrong` });

/** A text; where there is a default it stands there, and is given only once it was changed. */
function text(field, id) {
  const line = make("input", { ...about(id), type: "text", spellcheck: "false", autocomplete: "off" });
  const lines = make("textarea", { ...about(id), rows: 3, spellcheck: "false" });
  const element = make("span", { class: "text" }, line);
  const input = () => element.firstElementChild;
  let given = false;
  return {
    element, id,
    get: () => (input().value === "" && !said(field) ? null : !given && input().value === said(field) ? null : input().value),
    set(value) {
      given = value !== undefined;
      element.replaceChildren(String(value).includes("\n") ? lines : line); // a line would lose what follows
      input().value = value ?? said(field);
    },
  };
}

function colour(field, id) {
  const words = text(field, id);
  const picker = make("input", { type: "color", "aria-label": "Choose a colour" });
  picker.addEventListener("input", () => {
    words.set(picker.value);
    words.element.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const set = (value) => {
    words.set(value);
    picker.value = value ?? "#808080";
  };
  return { ...words, set, element: make("span", { class: "colour" }, words.element, picker) };
}

/** A number is sent as one; what is none is sent as it was typed, so that the server says what is wrong with it. */
function number(field, id) {
  const input = make("input", { ...about(id), type: "text", inputmode: field.kind === "whole" ? "numeric" : "decimal", autocomplete: "off" });
  let given = false;
  const read = () => {
    const typed = input.value.trim();
    return typed !== "" && Number.isFinite(Number(typed)) ? Number(typed) : typed;
  };
  return {
    element: input, id,
    get: () => (read() === "" ? null : !given && read() === field.default ? null : read()),
    set(value) {
      given = value !== undefined;
      input.value = value ?? said(field);
    },
  };
}

/** On or off; where there is no default, it may also be left to what the study says. */
function toggle(field, id, context) {
  if (field.default === null) {
    const words = { yes: true, no: false };
    const made = choice({ ...field, choices: ["yes", "no"] }, id, context);
    const named = (value) => Object.keys(words).find((word) => words[word] === value);
    return { ...made, get: () => words[made.get()] ?? null, set: (value) => made.set(named(value)) };
  }
  const input = make("input", { ...about(id), type: "checkbox" });
  let given = false;
  return {
    element: input, id, inline: true,
    get: () => (!given && input.checked === field.default ? null : input.checked),
    set(value) {
      given = value !== undefined;
      input.checked = value ?? field.default;
    },
  };
}

function choice(field, id) {
  const none = field.default === null && !field.required ? [make("option", { value: "" }, "–")] : [];
  const input = make("select", about(id), ...none, ...field.choices.map((one) => make("option", { value: one }, one.replaceAll("_", " "))));
  let given = false;
  return {
    element: input, id,
    get: () => (input.value === "" || (!given && input.value === field.default) ? null : input.value),
    set(value) {
      given = value !== undefined;
      if (value !== undefined && !field.choices.includes(value)) input.append(make("option", { value }, String(value)));
      input.value = value ?? field.default ?? (none.length ? "" : field.choices[0]);
    },
  };
}

/** A list, one to a line, or as study.toml writes it: ["de", "fr"]. */
function list(field, id) {
  const input = make("textarea", { ...about(id), rows: 3, spellcheck: "false", placeholder: "one to a line" });
  let given = false;
  const lines = () => asWritten(input.value) ?? input.value.split("\n").map((line) => line.trim()).filter((line) => line);
  const written = (value) => [value ?? []].flat();
  const read = () => (field.kind === "numbers" ? lines().map((line) => (Number.isFinite(Number(line)) ? Number(line) : line)) : lines());
  return {
    element: input, id,
    get() {
      const found = read();
      if (!given && same(found, written(field.default))) return null;
      if (!found.length && !written(field.default).length) return null;
      return field.single && found.length === 1 ? found[0] : found;
    },
    set(value) {
      given = value !== undefined;
      input.value = written(value ?? field.default).join("\n");
      input.rows = Math.max(2, Math.min(8, written(value ?? field.default).length + 1));
    },
  };
}

/** What no control is known for is written as in the file; the server reads what was typed. */
function toml(field, id) {
  const input = make("textarea", { ...about(id), class: "code", rows: 3, spellcheck: "false" });
  let before = null;
  return {
    element: input, id,
    get: () => (input.value.trim() === "" ? null : input.value === asToml(before) ? before : { "as toml": input.value }),
    set(value) {
      before = value ?? null;
      input.value = asToml(before);
    },
  };
}

/** A value as TOML writes it: strings as JSON has them, tables in one line. */
function asToml(value) {
  if (value === null) return "";
  if (Array.isArray(value)) return `[${value.map(asToml).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const name = (key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));
  return `{ ${Object.entries(value).map(([key, one]) => `${name(key)} = ${asToml(one)}`).join(", ")} }`;
}

const KINDS = { text, colour, whole: number, number, switch: toggle, choice, texts: list, numbers: list, rows, table, toml, words: toml };

/** The entries of a list in brackets; null where it is none. */
function asWritten(text) {
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) ? found.map(String) : null;
  } catch {
    return null;
  }
}
