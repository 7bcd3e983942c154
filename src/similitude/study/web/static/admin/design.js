// The settings of a study: a form made from their own schema. Only what was changed is sent.

import { make } from "../dom.js";
import { control, same } from "./controls.js";
import { at, bar, guard, problem, send, showToDo, told, withCode } from "./desk.js";
import { frames, offer, preview } from "./frames.js";
import { thumbnails } from "./thumbnails.js";

let now = told; // what the server said last
const settings = new Map(); // by key: the control, and what stands around it

const context = {
  get items() { return now.items; },
  get shows() { return now.shows; },
  get written() { return now.written; },
  thumbnail: (name) => thumbnails(now.items).of(name),
  preview: (frame, fields) => preview(frame, { ...given(), ...fields }),
};

const changes = () => Object.fromEntries([...settings].filter(([key, one]) => !same(one.control.get(), one.before))
  .map(([key, one]) => [key, one.control.get()]));
const given = () => ({ changes: JSON.stringify({ changes: changes() }) });

// --- the form ---

function drawParts() {
  const shown = told.parts.filter((part) => part.fields.length);
  at("contents").replaceChildren(...shown.map((part) => make("a", { href: `#part-${part.name}` }, title(part.name))));
  at("parts").replaceChildren(...shown.map(drawPart));
}

const title = (name) => (name ? name[0].toUpperCase() + name.slice(1).replaceAll("_", " ") : "Study");

function drawPart(part) {
  const fields = part.fields.filter((field) => field.kind !== "words");
  const elsewhere = { pages: "pages", items: "items", "": "pages" }[part.name];
  const link = elsewhere ? make("p", {}, make("a", { href: `${told.root}/admin/${told.study}/design/${elsewhere}` },
    elsewhere === "items" ? "Add and see the items" : "Write the pages and all words")) : null;
  return make("section", { class: "card part", id: `part-${part.name}`, "aria-labelledby": `title-${part.name}` },
    make("h2", { id: `title-${part.name}` }, title(part.name)), make("p", { class: "small" }, ...withCode(part.words)),
    ...fields.map(drawSetting), link);
}

function drawSetting(field) {
  const id = `key-${field.key}`, name = field.key.split(".").pop();
  const made = control(field, id, context);
  const label = make(field.kind === "rows" ? "span" : "label", { ...(field.kind === "rows" ? { id: `${id}-label` } : { for: made.id }), class: "name" },
    title(name));
  const wrong = make("p", { class: "wrong", id: `${id}-wrong`, role: "alert", hidden: true });
  const why = make("p", { class: "locked", hidden: true });
  const element = make("div", { class: `setting ${made.inline ? "inline" : ""} of-${field.kind}`, "data-key": field.key }, label, made.element,
    make("p", { class: "small", id: `${id}-words` }, ...withCode(field.words), " ", make("code", { class: "key" }, field.key)), why, wrong);
  if (field.kind === "rows") {
    element.setAttribute("role", "group");
    element.setAttribute("aria-labelledby", `${id}-label`);
  }
  for (const kind of ["input", "change"]) element.addEventListener(kind, changed);
  settings.set(field.key, { field, control: made, element, wrong, why, before: null });
  return element;
}

// --- what it says ---

/** Show what the server says; what was changed here and is not saved stays, if it is to be `kept`. */
function show(found, kept = {}) {
  now = found;
  for (const [key, one] of settings) {
    one.control.set(now.values[key]);
    one.before = one.control.get();
    if (key in kept) one.control.set(kept[key] ?? undefined);
    const why = now.locked[key];
    one.why.textContent = why ?? "";
    one.why.hidden = !why;
    for (const part of one.element.querySelectorAll("input, select, textarea, button")) part.disabled = Boolean(why);
  }
  showFaults([]);
  showToDo(now.to_do);
  offer(now.stages, now.languages);
  look.draw();
  count(Object.keys(changes()).length);
}

/** Sentences beside the keys that they are about; the others above all. */
function showFaults(faults) {
  for (const one of settings.values()) one.wrong.hidden = true;
  const others = [];
  for (const { key, sentence } of faults) {
    const parts = key.split(".");
    const one = settings.get(key) ?? settings.get(parts.slice(0, 2).join("."));
    if (!one) { others.push(key ? `${key}: ${sentence}` : sentence); continue; }
    const place = parts.length > 2 ? `${Number(parts[2]) + 1}. ${parts.slice(3).join(" ")}: ` : "";
    one.wrong.textContent = `${one.wrong.hidden ? "" : `${one.wrong.textContent} `}${place}${sentence}`;
    one.wrong.hidden = false;
  }
  problem(others.join(" "));
  const first = [...settings.values()].find((one) => !one.wrong.hidden);
  first?.element.querySelector("input, select, textarea, button")?.focus();
}

function changed() {
  count(Object.keys(changes()).length);
  look.follow();
}

async function save() {
  const mine = changes();
  const { status, found } = await send("", { basis: now.basis, changes: mine });
  if (status === 200) {
    show(found);
    count(0, "Saved");
  } else if (found.code === "out_of_date") {
    const both = Object.keys(mine).filter((key) => !same(found.now.values[key], now.values[key]));
    show(found.now, mine);
    problem(`${found.detail} ${both.length ? `You both changed ${both.join(", ")}.` : "You changed other keys."} What you changed is still here: look at it and save again.`);
  } else if (found.code === "faults") {
    showFaults(found.faults);
  } else {
    problem(found.detail);
  }
}

const look = frames(given);
const count = bar(save, () => { show(now); count(0, "As it was saved"); });
guard(() => Object.keys(changes()).length > 0);
drawParts();
show(told);
