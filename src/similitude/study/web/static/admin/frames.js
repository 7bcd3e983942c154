// The preview: the raters' own page in frames of the size of a desktop and of a phone, with what is not saved yet.

import { make } from "../dom.js";
import { at, told } from "./desk.js";

const WAIT = 500; // milliseconds after the last change

/** Post into a frame what the rater's page is to be made of. */
export function preview(frame, fields) {
  const form = make("form", { method: "post", action: `${told.root}/admin/${told.study}/preview`, target: frame, hidden: true });
  for (const [name, value] of Object.entries({ csrf: told.csrf, ...fields })) form.append(make("input", { type: "hidden", name, value }));
  document.body.append(form);
  form.submit();
  form.remove();
}

/** Frames that follow; `given()` are the changes that are not saved. */
export function frames(given) {
  let timer = null;
  const draw = () => {
    const fields = { stage: at("stage").value, block: at("block").value, language: at("language").value, ...given() };
    for (const name of ["desktop", "phone"]) preview(name, fields);
  };
  const follow = () => {
    clearTimeout(timer);
    timer = setTimeout(draw, WAIT);
  };
  for (const id of ["stage", "block", "language"]) at(id).addEventListener("change", draw);
  for (const frame of document.querySelectorAll(".looks .frame")) fit(frame);
  return { draw, follow };
}

/** Offer what there is to look at; what was chosen stays. */
export function offer(stages, languages, blocks) {
  fill(at("stage"), stages);
  fill(at("language"), languages.map((one) => [one, one]));
  offerBlocks(blocks);
}

/** Blocks to look at, by name, saved or not; where there is only one thing to look at, nothing is asked. */
export function offerBlocks(blocks) {
  fill(at("block"), blocks.map((one) => [one, one]));
  at("block").parentElement.hidden = blocks.length < 2;
}

function fill(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, words]) => make("option", { value }, words)));
  if (options.some(([value]) => value === before)) select.value = before;
}

/** A frame is as large as the screen that it stands for, and made small as a whole. */
function fit(frame) {
  const inner = frame.querySelector("iframe");
  const draw = () => {
    const scale = Math.min(1, frame.clientWidth / Number(inner.width));
    inner.style.transform = `scale(${scale})`;
    frame.style.height = `${scale * Number(inner.height)}px`;
  };
  new ResizeObserver(draw).observe(frame);
  draw();
}
