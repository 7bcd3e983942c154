// The way of a rater through a study: consent, instructions, practice, questions with breaks, the survey, the way out.

import { freshId, inkUpon, seconds } from "./dom.js";
import { prepare } from "./items.js";
import { Measures } from "./measures.js";
import { Memory } from "./memory.js";
import { Preview } from "./preview.js";
import { Outbox } from "./outbox.js";
import { ownAnswered, partOf, practiceOf } from "./plan.js";
import { ask, feedback, progressWords } from "./question.js";
import { breakPage, done, keepPages, leadAway, loadingPage, page, partPage, sorry, survey, timeOver, written } from "./screens.js";
import { Refusal, Server } from "./server.js";
import { Shortcuts } from "./shortcuts.js";

const setup = JSON.parse(document.getElementById("setup").textContent);
const shows = {}; // how the questions of each form are shown
await learnToShow();
let texts = setup.texts;
const main = document.getElementById("main");
const PAUSE_SECONDS = 3;
const RENEW_SECONDS = 10; // of several servers some may be a little behind
const NO_MORE = ["erased", "withdrawn", "displaced"]; // of whom no answer is ever taken again

// behind the items: one colour for the whole study, and black or white upon it, whichever can be read better
document.documentElement.style.setProperty("--stage", setup.background);
document.documentElement.style.setProperty("--stage-ink", inkUpon(setup.background));

// a key that is held down does not press one button after the other
document.addEventListener("keydown", (event) => {
  if (event.repeat && event.key === "Enter" && event.target.tagName === "BUTTON") event.preventDefault();
}, true);

// --- notices: what the network does, calmly ---

const notice = document.getElementById("notice");
let noticeEnds = null;

function say(words, lasting = 4) {
  clearTimeout(noticeEnds);
  notice.textContent = words;
  notice.hidden = false;
  if (lasting) noticeEnds = setTimeout(() => (notice.hidden = true), 1000 * lasting);
}

let troubled = false;
const server = setup.preview ? new Preview(setup) : new Server(setup.study, {
  trouble(reached) {
    troubled = true;
    say(reached ? texts.unavailable : texts.offline, 0);
  },
  clear() {
    if (troubled) say(texts.back_online);
    troubled = false;
  },
});

// --- who it is ---

const parameters = Object.fromEntries(
  [...new URLSearchParams(window.location.search)].slice(0, 20).map(([name, value]) => [name.slice(0, 500), value.slice(0, 500)]));
if (setup.language) parameters.language = setup.language; // kept with the rater: in which of several they were asked
const identity = setup.parameters.map((name) => parameters[name]).find((value) => value) ?? "";
const memory = new Memory(setup.study, identity, setup.preview?.remembers);
setup.shortcuts = new Shortcuts(memory);
setup.measures = new Measures(setup.timing.device, memory);

/** Where the rater stands, as the server says; null for somebody whom it does not know yet. */
async function whereIAm() {
  server.token = memory.get("token");
  if (!server.token) return null;
  try {
    return await server.ask("GET", "me");
  } catch (refusal) {
    if (refusal.status !== 401) throw refusal;
    memory.forget(); // the study was begun anew: so does this page
    window.location.reload();
    return new Promise(() => {});
  }
}

async function join() {
  const uid = memory.get("uid") ?? freshId();
  memory.set("uid", uid);
  const me = await server.ask("POST", "join", { uid, parameters });
  server.token = me.token;
  memory.set("token", me.token);
  return me;
}

/** Nothing is stored about anybody before they agree; where there is nothing to agree to, they come in at once. */
async function comeIn() {
  let me = await whereIAm();
  const asksConsent = setup.pages.includes("consent");
  if (me === null && (setup.full || !asksConsent)) me = await join();
  if (me !== null && me.stage !== "consent") return me;
  const buttons = [["agree", texts.agree], ["decline", texts.decline]];
  if ((await page(main, { body: written("consent"), buttons, deliberate: true })) === "decline") {
    sorry(main, "declined", texts);
    return null;
  }
  if (me === null) me = await join();
  return me.stage === "consent" ? server.ask("POST", "consent") : me;
}

/** The scripts of all forms that are asked. */
async function learnToShow() {
  for (const { form } of [setup, ...Object.values(setup.blocks)]) shows[form] ??= (await import(`./forms/${form}.js`)).default;
}

/** What depends on who it is: the words of a condition, and the order of the blocks. */
async function readOwnSetup() {
  const own = await server.ask("GET", `setup?language=${document.documentElement.lang}`);
  Object.assign(setup, own.setup);
  texts = setup.texts;
  keepPages(own.pages);
  await learnToShow();
}

// --- the questions ---

let held = null; // what the server said last: the questions that this rater holds, and how far they are
let changed = () => {}; // called when that changes
let onScreen = null; // the number of the question on the screen, and how to take it away
let ended = false; // a page stands that is the last one: nothing is asked any more
const prepared = new Map();

const outbox = new Outbox(server, memory, {
  stored: hold,
  async refused(refusal) {
    if (refusal.code === "answered_before") say(texts.other_tab);
    else if (refusal.status === 401) return window.location.reload();
    hold(await server.ask("POST", "questions"));
  },
});

function hold(found) {
  held = found;
  const numbers = new Set(held.questions.map((question) => question.number));
  for (const number of prepared.keys()) if (!numbers.has(number)) prepared.delete(number);
  for (const question of held.questions) ready(question);
  if (onScreen && !numbers.has(onScreen.number)) onScreen.away.abort();
  progress();
  changed();
}

/** The items of a question, loading from the first time that it is heard of. */
function ready(question) {
  if (!prepared.has(question.number)) prepared.set(question.number, prepare(question, server, setup));
  return prepared.get(question.number);
}

const answered = () => held.answered + outbox.size;

function progress() {
  const bar = document.getElementById("progress");
  bar.hidden = false;
  bar.setAttribute("aria-valuemax", held.length);
  bar.setAttribute("aria-valuenow", answered());
  bar.firstElementChild.style.width = `${(100 * answered()) / Math.max(held.length, 1)}%`;
}

function somethingChanges() {
  return new Promise((resolve) => (changed = resolve));
}

async function questions() {
  await outbox.send(); // what an earlier visit could not send
  hold(await server.ask("POST", "questions"));
  let last = null;
  const told = new Set(); // parts that were announced
  while (!ended && !(held.done && outbox.size === 0)) {
    const next = held.paused ? undefined : held.questions.find((question) => !outbox.has(question.number));
    const changed = held.study_version !== setup.version && memory.lasts && Date.now() - (memory.get("renewed") ?? 0) > RENEW_SECONDS * 1000;
    if (changed && outbox.size === 0) {
      memory.set("renewed", Date.now());
      window.location.reload(); // what comes next is asked in the words of now
      return new Promise(() => {});
    }
    if (changed || next === undefined) {
      await wait();
      continue;
    }
    if (last === "practice" && next.kind !== "practice") {
      await page(main, { title: texts.practice_over, buttons: [["go", texts.start]] });
    }
    await announce(next, told);
    if (await oneQuestion(next)) last = next.kind;
  }
  if (!ended) await finish();
}

/** Say that another part begins; the first one only where there is a page of its own for it. */
async function announce(question, told) {
  const number = question.number - held.first;
  const part = partOf(setup.plan, number);
  const begins = part.start === number || told.size > 0;
  if (begins && !told.has(part.index) && setup.plan.length > 1 && (setup.preview?.announces ?? true)) {
    const asked = { ...setup, ...setup.blocks[question.block], block: question.block };
    if (part.index > 0 || setup.pages.includes(`block-${question.block}`)) await partPage(main, part, asked);
  }
  told.add(part.index);
}

/** Ask one question; false when it was taken away, since another tab has answered it. */
async function oneQuestion(question) {
  const words = progressWords(setup, question.number - held.first, held.length);
  document.getElementById("place").textContent = words;
  document.getElementById("spoken").textContent = words;
  onScreen = { number: question.number, away: new AbortController() };
  const draft = memory.draft(question);
  const asked = { ...setup, ...setup.blocks[question.block], show: shows[question.form], draft };
  const found = await ask(main, question, ready(question), asked, onScreen.away.signal);
  onScreen = null;
  if (found === null) return false;
  outbox.add({ number: question.number, uid: freshId(), ...found.said });
  draft.drop();
  progress();
  await feedback(main, found, question, setup);
  if (found.said.outcome === "timed_out") await timeOver(main, texts);
  const own = ownAnswered(setup.plan, answered());
  const total = held.length - practiceOf(setup.plan);
  if (setup.breakEvery && own > 0 && own < total && own % setup.breakEvery === 0) await breakPage(main, own, total, texts);
  return true;
}

/** Nothing to ask now: answers are on their way, or the study is paused. */
async function wait() {
  if (outbox.size) {
    const late = setTimeout(() => loadingPage(main, texts), 300);
    await somethingChanges();
    clearTimeout(late);
    return;
  }
  if (held.paused) sorry(main, "paused", texts, answered() ? texts.paused : texts.paused_before);
  else loadingPage(main, texts);
  await seconds(PAUSE_SECONDS);
  hold(await server.ask("POST", "questions"));
}

/** All questions are answered: the survey, where there is one, and the end of it. */
async function finish() {
  document.getElementById("place").textContent = "";
  let wayOut = null;
  const send = sendTo("survey", (found) => (wayOut = found));
  const fields = setup.survey.filter((field) => field.when === "after");
  if (fields.length) await survey(main, fields, texts, send);
  else await send({});
  await done(main, wayOut, setup);
}

/** Sends a survey; what is wrong with it is given back as a sentence. */
function sendTo(path, kept) {
  return async (replies) => {
    try {
      kept(await server.ask("POST", path, { replies }));
      return null;
    } catch (refusal) {
      if (refusal instanceof Refusal && refusal.status === 422) return refusal.message;
      throw refusal;
    }
  };
}

async function start() {
  let me = await comeIn();
  if (me === null) return;
  if (setup.ownSetup) await readOwnSetup();
  if (setup.preview) keepPages(setup.preview.pages);
  if (me.stage === "before") {
    const fields = setup.survey.filter((field) => field.when === "before");
    await survey(main, fields, texts, sendTo("before", (found) => (me = found)), texts.survey_first_title);
  }
  if (me.stage === "done") return done(main, me, setup);
  if (me.answered === 0 && setup.pages.includes("instructions") && !memory.get("instructed")) {
    await page(main, { body: written("instructions"), buttons: [["start", texts.start]] });
    memory.set("instructed", "yes");
  }
  await questions();
}

/** What nobody foresaw is said, too: the answers so far are kept. Whether it was foreseen. */
function stop(error) {
  const known = error instanceof Refusal && ["full", "not_open", "not_named", "crowded", ...NO_MORE].includes(error.code);
  ended = true;
  onScreen?.away.abort();
  changed();
  if (NO_MORE.includes(error.code)) outbox.empty();
  document.getElementById("place").textContent = "";
  sorry(main, known ? error.code : "fault", texts);
  if (error.code === "full" && setup.fullRedirect) leadAway(main, setup.fullRedirect, parameters, texts);
  if (!known) console.error(error);
  return known;
}

window.addEventListener("unhandledrejection", (event) => stop(event.reason) && event.preventDefault());
start().catch(stop);
