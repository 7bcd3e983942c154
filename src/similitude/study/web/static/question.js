// One question on the screen, from when its items are to be seen until it is answered.

import { fill, make, painted, seconds } from "./dom.js";
import { FORMS } from "./forms.js";

const TOO_SOON = 0.15; // seconds: a second tap of the same finger does not answer the next question

/**
 * Show a question; resolves to {outcome, response, milliseconds}, or to null when `gone` (an AbortSignal) says so.
 * The time runs from when the items were painted.
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
      resolve({ outcome, response, milliseconds, form });
    };
    gone.addEventListener("abort", () => { over.abort(); resolve(null); }, { signal: over.signal });

    const form = FORMS[setup.form](prepared.views, setup, (response) => finish("answered", response));
    const others = otherAnswers(setup, finish);
    const turnOff = () => {
      [...form.controls, ...others.map((other) => other.button)].forEach((control) => (control.disabled = true));
      form.off?.();
    };
    const heading = make("h1", { class: "ask", tabindex: -1, dir: "auto" }, setup.ask);
    const stage = make("div", { class: "stage loading" }, form.element);
    stage.classList.toggle("colours", question.shown.some((item) => item.kind === "colour"));
    main.replaceChildren(heading, stage, make("div", { class: "others" }, ...others.map((other) => other.button)),
      keysHelp(form, others, setup.texts));
    main.dataset.number = question.number;
    [...form.controls, ...others.map((other) => other.button)].forEach((control) => (control.disabled = true));
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    document.addEventListener("keydown", (event) => onKey(event, form, others), { signal: over.signal });

    begin();

    async function begin() {
      const late = setTimeout(() => others.forEach((other) => (other.button.disabled = false)), 3000);
      await prepared.ready;
      clearTimeout(late);
      if (over.signal.aborted) return;
      stage.classList.remove("loading");
      await painted();
      shownAt = performance.now();
      await seconds(TOO_SOON);
      if (over.signal.aborted) return;
      [...form.controls, ...others.map((other) => other.button)].forEach((control) => (control.disabled = false));
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

function onKey(event, form, others) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isItsOwn(event)) return;
  const other = others.find((one) => one.key.toLowerCase() === event.key.toLowerCase());
  if (other) other.button.click();
  else if (!form.key(event)) return;
  event.preventDefault();
}

/** Sounds and films have keys of their own: to play, and to move within them. */
function isItsOwn(event) {
  return ["AUDIO", "VIDEO"].includes(event.target.tagName) && /^( |Enter|Arrow.*)$/.test(event.key);
}

function keysHelp(form, others, texts) {
  const more = others.map((other) => `${other.key} ${other.words}`);
  return make("p", { class: "keys" }, make("b", {}, texts.keys), " ", [form.keys, ...more].join(" · "));
}

/** After a practice question: whether it was the expected answer, and which was. */
export function feedback(main, said, question, setup) {
  if (!question.correct || said.outcome !== "answered") return Promise.resolve();
  const same = sameResponse(setup.form, said.response, question.correct);
  said.form.mark(question.correct);
  return new Promise((resolve) => {
    const go = make("button", { class: "main", onclick: resolve }, setup.texts.go_on);
    main.querySelector(".others").replaceChildren(
      make("p", { class: same ? "verdict right" : "verdict wrong", role: "status" },
        same ? setup.texts.right : setup.texts.wrong), go);
    main.querySelector(".keys").replaceChildren(make("b", {}, setup.texts.keys), ` ${setup.texts.keys_page}`);
    go.focus();
  });
}

function sameResponse(form, one, other) {
  if (form === "labelling") return one[0] === other[0];
  const sorted = (response) => JSON.stringify([...response].sort((a, b) => a - b));
  return sorted(one) === sorted(other);
}

export function progressWords(setup, number, total) {
  const practising = number < setup.practice;
  const words = practising ? setup.texts.practice : setup.texts.progress;
  const shown = practising ? number + 1 : number - setup.practice + 1;
  return fill(words, { number: shown, total: practising ? setup.practice : total - setup.practice });
}
