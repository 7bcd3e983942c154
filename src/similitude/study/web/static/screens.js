// The pages around the questions: consent, instructions, breaks, the survey, the way out, and what stands in the way.

import { fill, make, seconds } from "./dom.js";

/**
 * A page of text with buttons; resolves to the name of the button that was pressed.
 * Enter goes on, but where `deliberate`, or where there is more to read than fits.
 */
export function page(main, { title, body = [], buttons = [], deliberate = false }) {
  delete main.dataset.number;
  const heading = title ? make("h1", { tabindex: -1 }, title) : null;
  const article = make("article", { class: "page" }, heading, ...[body].flat());
  if (!article.querySelector("h1")) article.prepend(make("h1", { class: "spoken" }, document.title));
  window.scrollTo(0, 0);
  return new Promise((resolve) => {
    const made = buttons.map(([name, words], k) =>
      make("button", { class: k === 0 ? "main" : "other", onclick: () => resolve(name) }, words));
    if (made.length) article.append(make("div", { class: "buttons" }, ...made));
    main.replaceChildren(article);
    const first = heading ?? article.querySelector("h1:not(.spoken), h2") ?? article.querySelector("h1");
    first?.setAttribute("tabindex", "-1");
    if (made.length && !deliberate && article.scrollHeight <= window.innerHeight) made[0].focus({ preventScroll: true });
    else first?.focus({ preventScroll: true });
  });
}

/** The researcher's own text, made from Markdown by the server. */
export function written(name) {
  return make("div", { class: "written" }, document.getElementById(`page-${name}`).content.cloneNode(true));
}

/** Pages that came later than the others, made from Markdown by the server, too. */
export function keepPages(pages) {
  for (const [name, html] of Object.entries(pages)) {
    const kept = document.getElementById(`page-${name}`) ?? make("template", { id: `page-${name}` });
    kept.content.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    document.body.append(kept);
  }
}

/** Between two parts of a study: what is asked from here on, or the page that was written for it. */
export function partPage(main, { index, count }, { block, pages, ask, texts }) {
  const own = `block-${block}`;
  const title = fill(texts.part_title, { number: index + 1, total: count });
  document.getElementById("place").textContent = title;
  const body = pages.includes(own) ? written(own) : [make("p", {}, texts.part), make("p", { class: "next-ask", dir: "auto" }, ask)];
  return page(main, { title: pages.includes(own) ? undefined : title, body, buttons: [["go", texts.go_on]] });
}

export function breakPage(main, number, total, texts) {
  const body = make("p", {}, fill(texts.break, { number, total }));
  return page(main, { title: texts.break_title, body, buttons: [["go", texts.go_on]] });
}

/** After a question whose time was over: the next one waits until somebody is there. */
export function timeOver(main, texts) {
  return page(main, { title: texts.time_over_title, body: make("p", {}, texts.time_over), buttons: [["go", texts.go_on]] });
}

export function loadingPage(main, texts) {
  main.replaceChildren(make("h1", { class: "loading" }, texts.loading));
}

/** A page with a title and a text, that stays. */
export function sorry(main, name, texts, said = texts[name]) {
  page(main, { title: texts[`${name}_title`], body: make("p", {}, said) });
}

/** Below what was said: the way to another address, taken by itself after a moment. */
export async function leadAway(main, address, parameters, texts) {
  const filled = Object.entries(parameters).reduce((all, [name, value]) => all.replaceAll(`{${name}}`, encodeURIComponent(value)), address);
  main.firstElementChild.append(make("p", {}, texts.redirecting),
    make("div", { class: "buttons" }, make("a", { class: "main", href: filled }, texts.leave)));
  await seconds(3);
  window.location.assign(filled);
}

/** The survey; `send(replies)` resolves to null, or to a sentence that says what is wrong. */
export function survey(main, fields, texts, send, title = texts.survey_title) {
  return new Promise((resolve) => {
    const fault = make("p", { class: "verdict wrong", role: "alert", hidden: true });
    const rows = fields.map((field) => fieldRow(field, texts));
    const button = make("button", { class: "main", type: "submit" }, texts.send);
    const form = make("form", {}, ...rows.map((row) => row.element), fault, make("div", { class: "buttons" }, button));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      const wrong = await send(Object.fromEntries(rows.map((row) => [row.name, row.control.value])));
      if (wrong === null) return resolve();
      fault.textContent = wrong;
      fault.hidden = false;
      button.disabled = false;
    });
    page(main, { title, body: form });
  });
}

function fieldRow(field, texts) {
  const id = `field-${field.name}`;
  const shared = { id, name: field.name, required: field.required, maxlength: 5000 };
  const controls = {
    text: () => make("input", { ...shared, type: "text" }),
    number: () => make("input", { ...shared, type: "number", step: "any", inputmode: "decimal" }),
    long_text: () => make("textarea", { ...shared, rows: 4 }),
    choice: () => make("select", { id, name: field.name, required: field.required },
      make("option", { value: "" }, texts.choose_one),
      ...field.choices.map((choice) => make("option", { value: choice }, choice))),
  };
  const control = controls[field.kind]();
  const star = field.required ? make("span", { class: "required" }, ` (${texts.required})`) : null;
  return { name: field.name, control, element: make("p", { class: "field" }, make("label", { for: id }, field.label, star), control) };
}

/** The last page: thanks, the code to copy, the way back. */
export async function done(main, { code, redirect, withheld }, setup) {
  const texts = setup.texts;
  const body = [setup.pages.includes("done") ? written("done") : make("p", {}, texts.done)];
  const why = {
    time: texts.no_code_time, skips: texts.no_code_skips, not_shown: texts.no_code_not_shown, rehearsal: texts.no_code_rehearsal,
  }[withheld];
  if (why) body.push(make("p", { class: "withheld" }, why));
  if (code) body.push(codeBox(code, texts));
  if (redirect) {
    if (!code) body.push(make("p", {}, texts.redirecting));
    body.push(make("div", { class: "buttons" }, make("a", { class: "main", href: redirect }, texts.leave)));
  }
  page(main, { title: texts.done_title, body });
  if (redirect && !code) {
    await seconds(3);
    window.location.assign(redirect);
  }
}

function codeBox(code, texts) {
  const shown = make("code", { id: "code", tabindex: 0 }, code);
  const copy = make("button", { class: "other" }, texts.copy);
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code);
      copy.textContent = texts.copied;
    } catch {
      window.getSelection().selectAllChildren(shown); // no leave to copy: it is marked, ready to be copied by hand
    }
  });
  return make("p", { class: "code" }, make("span", {}, texts.code), shown, copy);
}
