// One question on the screen, from when its items are to be seen until it is answered.

import { fill, make, painted, seconds } from "./dom.js";
import { channels } from "./items.js";
import { partOf, practiceOf } from "./plan.js";
import { Times } from "./timing.js";

const LOOK_AGAIN = 0.5;
const TOO_SOON = 0.15; // seconds: a second tap of the same finger does not answer the next question

/**
 * Show a question; resolves to what was said (outcome, response, milliseconds) and how it was shown (direction,
 * background), or to null when `gone` (an AbortSignal) says so. The time runs from when the items were painted.
 */
export function ask(main, question, prepared, setup, gone) {
  return new Promise((resolve) => {
    let shownAt = null;
    const over = new AbortController();
    const finish = (outcome, response) => {
      if (over.signal.aborted) return;
      over.abort();
      const milliseconds = shownAt === null ? null : Math.round(performance.now() - shownAt);
      turnOff();
      playing.remove();
      const measured = setup.measures.end(question, times.exposed);
      resolve({ said: { outcome, response, milliseconds, ...asShown(stage), ...measured }, form });
    };
    gone.addEventListener("abort", () => { over.abort(); resolve(null); }, { signal: over.signal });

    const form = setup.show(prepared.views, { ...setup, over: over.signal }, (response) => finish("answered", response));
    const others = otherAnswers(setup, finish);
    const turnOff = () => {
      [...form.controls, ...others.map((other) => other.button)].forEach((control) => (control.disabled = true));
      form.off?.();
    };
    const heading = make("h1", { class: "ask", tabindex: -1, dir: "auto" }, setup.ask);
    const stage = make("div", { class: ["stage loading", ...[...prepared.kinds].map((kind) => `of-${kind}`)].join(" ") }, form.element);
    stage.classList.toggle("long", prepared.long);
    const below = make("div", { class: "others" }, ...others.map((other) => other.button));
    const cannot = prepared.plays ? setup.texts.not_played : setup.texts.not_shown;
    const wayOn = make("button", { class: "other", onclick: () => finish("not_shown", null) }, cannot);
    const waits = prepared.plays || setup.timing.least > 0;
    const playing = make("p", { class: "playing", role: "status", dir: "auto", hidden: !waits });
    const times = new Times(setup, stage);
    document.querySelector("dialog")?.close();
    main.replaceChildren(heading, stage, playing, times.element, below, setup.shortcuts.control(keysHelp(form, others), setup.texts));
    main.dataset.number = question.number;
    [...form.controls, ...others.map((other) => other.button)].forEach((control) => (control.disabled = true));
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    document.addEventListener("keydown", (event) => onKey(event, form, others, setup.shortcuts), { signal: over.signal });

    begin();

    async function begin() {
      const late = setTimeout(() => others.forEach((other) => (other.button.disabled = false)), 3000);
      prepared.broken.then(() => below.append(wayOn));
      await prepared.ready;
      clearTimeout(late);
      if (over.signal.aborted) return;
      stage.classList.remove("loading");
      times.appear(prepared.views, over.signal);
      await painted();
      while (!prepared.views.every((view) => view.seen())) {
        below.append(wayOn); // nobody judges what cannot be seen
        await seconds(LOOK_AGAIN);
        if (over.signal.aborted) return;
      }
      wayOn.remove();
      shownAt = performance.now();
      setup.measures.begin(question);
      const timeOver = () => finish("timed_out", null);
      if (!prepared.plays) times.limit(shownAt, over.signal, timeOver);
      if (setup.timing.least) await until(times.least(shownAt), setup.texts.look_first);
      else await seconds(TOO_SOON);
      if (over.signal.aborted) return;
      others.forEach((other) => (other.button.disabled = false));
      // nobody judges what was not heard; where that is not possible, the other answers stay
      if (prepared.plays) await until(prepared.played, setup.timing.toTheEnd ? setup.texts.play_to_end : setup.texts.play_first);
      if (over.signal.aborted) return;
      if (prepared.plays) times.limit(performance.now(), over.signal, timeOver);
      form.controls.forEach((control) => (control.disabled = false));
    }

    /** Say why no answer is taken yet, until it is. */
    async function until(possible, why) {
      playing.textContent = why;
      stage.classList.add("unheard");
      await possible;
      stage.classList.remove("unheard");
      playing.textContent = setup.texts.all_played;
    }
  });
}

function otherAnswers(setup, finish) {
  const offered = [
    ["cant_tell", setup.cantTell, setup.texts.cant_tell, setup.texts.key_cant_tell],
    ["skipped", setup.skip, setup.texts.skip, setup.texts.key_skip],
  ];
  return offered.filter(([, offer]) => offer).map(([outcome, , words, key]) => ({
    key,
    words,
    button: make("button", { class: "other", onclick: () => finish(outcome, null) },
      make("kbd", { "aria-hidden": "true" }, key), make("span", {}, words)),
  }));
}

function onKey(event, form, others, shortcuts) {
  if ((event.repeat && !form.holds) || event.ctrlKey || event.metaKey || event.altKey || isItsOwn(event)) return;
  if (!shortcuts.takes(event) || document.querySelector("dialog[open]")) return;
  const other = others.find((one) => one.key.toLowerCase() === event.key.toLowerCase());
  if (other) other.button.click();
  else if (!form.key(event)) return;
  event.preventDefault();
}

/** Sounds and films have keys of their own: to play, and to move within them. */
function isItsOwn(event) {
  return ["AUDIO", "VIDEO"].includes(event.target.tagName) && /^( |Enter|Arrow.*)$/.test(event.key);
}

function keysHelp(form, others) {
  return [form.keys, ...others.map((other) => `${other.key} ${other.words}`)].join(" · ");
}

/** The direction of the page, and the colour behind the items, as they are on this screen. */
function asShown(stage) {
  const { direction, backgroundColor } = getComputedStyle(stage);
  const background = channels(backgroundColor);
  return { direction, background: /^\d+ \d+ \d+$/.test(background) ? background : null };
}

/** After a practice question: whether it was the expected answer, and which was. */
export function feedback(main, { said, form }, question, setup) {
  if (!question.correct || said.outcome !== "answered") return Promise.resolve();
  const same = (form.same ?? sameNumbers)(said.response, question.correct);
  main.querySelector(".stage").classList.remove("unseen");
  form.mark(question.correct);
  return new Promise((resolve) => {
    const go = make("button", { class: "main", onclick: resolve }, setup.texts.go_on);
    main.querySelector(".others").replaceChildren(
      make("p", { class: same ? "verdict right" : "verdict wrong", role: "status" },
        same ? setup.texts.right : setup.texts.wrong), go);
    main.querySelector(".keys").replaceChildren(setup.texts.keys_page);
    go.focus();
  });
}

function sameNumbers(one, other) {
  const sorted = (response) => JSON.stringify([...response].sort((a, b) => a - b));
  return sorted(one) === sorted(other);
}

export function progressWords(setup, number, total) {
  const part = partOf(setup.plan, number);
  const within = number - part.start + 1;
  if (within <= part.practice) return fill(setup.texts.practice, { number: within, total: part.practice });
  return fill(setup.texts.progress, { number: part.own + within - part.practice, total: total - practiceOf(setup.plan) });
}
