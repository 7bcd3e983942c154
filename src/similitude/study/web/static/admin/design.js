// The settings of a study: a form made from their own schema. Only what was changed is sent.

import { make } from "../dom.js";
import { control, same } from "./controls.js";
import { at, bar, guard, problem, problems, send, showToDo, told, withCode } from "./desk.js";
import { frames, offer, offerBlocks, preview } from "./frames.js";
import { showUsed } from "./rows.js";
import { thumbnails } from "./thumbnails.js";

let now = told; // what the server said last
const settings = new Map(); // by key: the control, and what stands around it
const unusedLines = new Map(); // by part: the line that names what questions do not use

const context = {
  get items() { return now.items; },
  get shows() { return now.shows; },
  get form() { return valueOf("question.form") ?? now.values["question.form"] ?? "triplet"; },
  thumbnail: (name) => thumbnails(now.items).of(name),
  preview: (frame, fields) => preview(frame, { ...given(), ...fields }),
  unused,
};
const valueOf = (key) => settings.get(key)?.control.get() ?? null;

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
    ...fields.map(drawSetting), unusedLine(part.name), link);
}

function unusedLine(part) {
  unusedLines.set(part, make("p", { class: "small unused", hidden: true }));
  return unusedLines.get(part);
}

// --- what questions use ---

const formOfStudy = () => valueOf("question.form") ?? settings.get("question.form")?.field.default;
const blocks = () => valueOf("block") ?? [];

/** The keys of a table that no questions of some forms use, each with why; where no form is said it is the study's. */
function unused(part, forms) {
  const asked = [...new Set(forms.map((form) => form ?? formOfStudy()))];
  const [first, ...others] = asked.map((form) => told.unused[form] ?? {});
  const keys = Object.keys(first).filter((key) => key.startsWith(`${part}.`) && others.every((one) => key in one));
  const names = asked.map((form) => String(form).replaceAll("_", " "));
  return { why: new Map(keys.map((key) => [key.slice(part.length + 1), first[key]])), forms: names.join(" and ") };
}

/** Show what the questions of now use, and nothing else. */
function follow() {
  const forms = blocks().length ? blocks().map((block) => block.question?.form) : [undefined];
  for (const part of told.parts) {
    const fields = [...settings].filter(([key]) => part.name && key.startsWith(`${part.name}.`))
      .map(([key, one]) => ({ name: key.slice(part.name.length + 1), element: one.element }));
    if (fields.length) showUsed(fields, unused(part.name, forms), unusedLines.get(part.name));
  }
  for (const one of settings.values()) one.control.follow?.();
  offerBlocks(blocks().map((block) => block.name).filter((name) => typeof name === "string"));
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
  offer(now.stages, now.languages, now.blocks);
  follow();
  look.draw();
  count(Object.keys(changes()).length);
}

/** A sentence beside each field that it is about, and a list of links above all; the first field has the focus then. */
function showFaults(faults) {
  for (const one of document.querySelectorAll(".wrong")) Object.assign(one, { hidden: true, textContent: "" });
  for (const one of document.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
  const listed = faults.map(showFault);
  problems(listed);
  const first = listed.find((one) => one.go);
  if (first) first.go();
  else if (listed.length) at("problem").focus();
}

function showFault({ key, sentence }) {
  const place = placeOf(key.split("."));
  if (!place) return { words: key ? `${key}: ${sentence}` : sentence };
  const { element, wrong, line } = place;
  wrong.replaceChildren(...(wrong.hidden ? [] : [wrong.textContent, " "]), ...withCode(`${line}${sentence}`));
  wrong.hidden = element.hidden = false;
  inputOf(element)?.setAttribute("aria-invalid", "true");
  return { words: inWords(key), sentence, go: () => goTo(element) };
}

/** The field that a key names, as deep as there is one; the number of the line where it is one of a list. */
function placeOf(parts) {
  const known = [2, 1].map((n) => parts.slice(0, n).join(".")).find((key) => settings.has(key));
  if (!known) return null;
  const one = settings.get(known), rest = parts.slice(known.split(".").length);
  const inside = rest.length ? one.control.place?.(rest) : null;
  if (inside) one.element.hidden = false;
  const line = !inside && /^\d+$/.test(rest[0] ?? "") ? `line ${Number(rest[0]) + 1}: ` : "";
  return { ...(inside ?? { element: one.element, wrong: one.wrong }), line };
}

/** A key as people read it: "Condition 2, blocks". */
function inWords(key) {
  const parts = key.split(".").map((part) => part.replaceAll("_", " "));
  return title(parts.reduce((words, part) => (/^\d+$/.test(part) ? `${words} ${Number(part) + 1}` : `${words}, ${part}`)));
}

const inputOf = (element) => element.querySelector("input, select, textarea, button");

function goTo(element) {
  inputOf(element)?.focus({ preventScroll: true });
  element.scrollIntoView({ block: "center" });
}

function changed() {
  follow();
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
const linked = settings.get(decodeURIComponent(location.hash).replace("#key-", ""));
if (linked) goTo(linked.element);
