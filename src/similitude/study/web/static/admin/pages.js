// What people read: the pages in Markdown, pictures for them, and every word, in each language of the study.

import { make } from "../dom.js";
import { at, bar, guard, problem, send, sendFiles, showTaken, showToDo, told } from "./desk.js";
import { frames, offer } from "./frames.js";

const NAMES = { consent: "Consent", instructions: "Instructions", done: "The last page" };
let now = told;
const drafts = new Map(); // texts of pages that are not saved, by page and language; null is no such page
const words = new Map(); // words that are not saved, by language and name

const language = () => at("spoken").value;
const first = () => now.languages[0]?.language;
const spoken = () => now.languages.find((one) => one.language === language());
const place = () => `${at("page").value}/${language()}`;
const saved = (page, tag) => (tag === first() ? now.pages[page] : now.languages.find((one) => one.language === tag)?.pages[page]) ?? null;

// --- pages ---

function drawPage() {
  const page = at("page").value, has = drafts.has(place()) ? drafts.get(place()) : saved(page, language());
  const area = make("textarea", { id: "markdown", rows: 16, class: "written", "aria-label": `${NAMES[page]} in ${language()}`, dir: "auto" });
  if (has === null) {
    const begin = make("button", { type: "button", class: "quiet" }, language() === first() ? "Write this page" : `Write it in ${language()}`);
    begin.addEventListener("click", () => keep(now.pages[page] ?? "# \n"));
    at("write").replaceChildren(make("p", {}, language() === first() ? "There is no such page." : "In this language the page of the first is shown."), begin);
    return;
  }
  area.value = has;
  area.addEventListener("input", () => note(area.value));
  const gone = make("button", { type: "button", class: "quiet" }, "Do without it");
  gone.addEventListener("click", () => keep(null));
  at("write").replaceChildren(area, make("p", { class: "row-buttons" }, gone));
}

function note(text) {
  if (text === saved(at("page").value, language())) drafts.delete(place());
  else drafts.set(place(), text);
  changed();
}

function keep(text) {
  note(text);
  drawPage();
}

// --- words ---

function drawWords() {
  const one = spoken(), wanted = at("find").value.trim().toLowerCase();
  at("read").hidden = !one || (!one.machine && !one.checked);
  at("checked").checked = said("checked") ?? one?.checked ?? false;
  const holds = (entry) => `${entry.name} ${JSON.stringify(entry.default)} ${JSON.stringify(entry.own)}`.toLowerCase().includes(wanted);
  at("words").replaceChildren(...(one?.words ?? []).filter(holds).map(wordRow));
}

const said = (name) => words.get(`${language()}/${name}`);

function wordRow(entry) {
  const own = said(entry.name) === undefined ? entry.own : said(entry.name);
  const forms = entry.forms ?? [null];
  const inputs = forms.map((form) => {
    const value = form === null ? own : own?.[form];
    const standing = form === null ? entry.default : entry.default?.[form] ?? "";
    return make("input", { type: "text", dir: "auto", "aria-label": form ? `${entry.name}, ${form}` : entry.name, value: value ?? "",
      placeholder: typeof standing === "string" ? standing : "" });
  });
  const row = make("div", { class: "setting" }, make("code", { class: "key" }, entry.name), ...inputs);
  row.addEventListener("input", () => {
    const typed = inputs.map((input) => input.value);
    const value = !typed.some((text) => text) ? null : entry.forms ? Object.fromEntries(forms.map((form, k) => [form, typed[k]])) : typed[0];
    noteWord(entry.name, value, entry.own ?? null);
  });
  return row;
}

function noteWord(name, value, before) {
  const key = `${language()}/${name}`;
  if (JSON.stringify(value) === JSON.stringify(before)) words.delete(key);
  else words.set(key, value);
  changed();
}

// --- pictures ---

function drawPictures() {
  at("shelf").replaceChildren(...now.pictures.map((name) => {
    const address = `pages/${name}`;
    const insert = make("button", { type: "button", class: "quiet small-button", "aria-label": `Show ${name} on the page` }, "Show on the page");
    insert.addEventListener("click", () => put(/[\s()<>]/.test(address) ? `![](<${address}>)` : `![](${address})`));
    return make("li", {}, make("span", { class: "thumb image" }, make("img", { src: now.at + encodeURIComponent(name), alt: "", loading: "lazy" }),
      make("span", { class: "called" }, name)), insert);
  }));
}

/** Put something where the cursor is. */
function put(text) {
  const area = at("markdown");
  if (!area) return;
  area.setRangeText(`\n${text}\n`, area.selectionStart, area.selectionEnd, "end");
  note(area.value);
  area.focus();
}

async function addPictures() {
  const files = [...at("pictures").files];
  if (!files.length) return;
  try {
    const sent = await sendFiles(files, () => {});
    const { status, found } = await send("/pages", { do: "pictures", files: sent });
    if (status !== 200) throw new Error(found.detail);
    now = { ...found };
    drawPictures();
    showTaken(found.taken);
    look.draw();
  } catch (error) {
    problem(error.message);
  }
  at("pictures").value = "";
}

// --- all together ---

function lookAt(stage) {
  if (!now.stages.some(([name]) => name === stage)) return;
  at("stage").value = stage;
  look.draw();
}

function changed() {
  count(drafts.size + words.size);
  look.follow();
}

/** Files that are not saved, for the preview; words are seen once they are saved. */
function given() {
  const files = {};
  for (const [key, text] of drafts) {
    const [page, tag] = key.split("/");
    if (text !== null && saved(page, first()) !== null) files[now.files[page][tag]] = text;
  }
  return { files: JSON.stringify(files) };
}

function show(found) {
  now = found;
  const before = [at("page").value, at("spoken").value];
  at("page").replaceChildren(...Object.entries(NAMES).map(([value, name]) => make("option", { value }, name)));
  at("spoken").replaceChildren(...now.languages.map((one) => make("option", { value: one.language }, one.language)));
  at("page").value = before[0] || "consent";
  if (before[1]) at("spoken").value = before[1];
  offer(now.stages, now.languages.map((one) => one.language), now.blocks);
  drawPage();
  drawWords();
  drawPictures();
  showToDo(now.to_do);
  problem(now.languages.length ? null : now.faults.map((fault) => `${fault.key}: ${fault.sentence}`).join(" "));
  count(drafts.size + words.size);
  look.draw();
}

async function save() {
  for (const [key, text] of [...drafts]) {
    const [page, tag] = key.split("/");
    if (!(await sendOne({ do: "page", page, language: tag, text }, () => drafts.delete(key)))) return;
  }
  for (const tag of new Set([...words.keys()].map((key) => key.split("/")[0]))) {
    const own = [...words].filter(([key]) => key.startsWith(`${tag}/`));
    const said = Object.fromEntries(own.map(([key, value]) => [key.slice(tag.length + 1), value]));
    if (!(await sendOne({ do: "words", language: tag, words: said }, () => own.forEach(([key]) => words.delete(key))))) return;
  }
  show(now);
  count(0, "Saved");
}

/** Send one change; what others have done meanwhile is shown, and what is not saved stays. */
async function sendOne(body, kept) {
  const { status, found } = await send("/pages", { basis: now.basis, ...body });
  if (status === 200) {
    kept();
    now = found;
    return true;
  }
  if (found.code === "out_of_date") {
    show(found.now);
    problem(`${found.detail} What you wrote is still here: look at it and save again.`);
  } else {
    problem(found.detail);
  }
  return false;
}

/** Show the page and the language that a link names. */
function followLink() {
  const link = new URLSearchParams(location.hash.slice(1)), page = link.get("page"), tag = link.get("language");
  if (page in NAMES) at("page").value = page;
  if (now.languages.some((one) => one.language === tag)) at("spoken").value = at("language").value = tag;
  drawPage();
  drawWords();
  lookAt(at("page").value);
}

const look = frames(given);
const count = bar(save, () => { drafts.clear(); words.clear(); show(now); count(0, "As it was saved"); });
guard(() => drafts.size + words.size > 0);
at("page").addEventListener("change", () => {
  drawPage();
  lookAt(at("page").value);
});
at("spoken").addEventListener("change", () => { drawPage(); drawWords(); at("language").value = language(); look.draw(); });
at("find").addEventListener("input", () => { at("all").open = true; drawWords(); });
at("pictures").addEventListener("change", addPictures);
at("checked").addEventListener("change", () => noteWord("checked", at("checked").checked || null, spoken().checked || null));
window.addEventListener("hashchange", followLink);
show(told);
followLink();
