// Items on the screen: pictures, texts, sounds, films, colours. They are made and loaded before they are shown.

import { fill, make, seconds } from "./dom.js";

const LONGEST_WAIT = 10;
const ENOUGH_OF_A_FILM = 8; // some browsers load sounds and films only when they are played

/** The items of a question as elements; `ready` resolves when all of them are loaded. */
export function prepare(question, server, texts) {
  const views = question.shown.map((item) => KINDS[item.kind](item, server, texts));
  return { views, ready: Promise.all(views.map((view) => view.ready)) };
}

const KINDS = { image, text, colour, audio: playable, video: playable };

function text(item) {
  const element = make("div", { class: "item text", dir: "auto" }, item.content);
  return { element, label: item.content, ready: Promise.resolve() };
}

function colour(item, server, texts) {
  const label = fill(texts.colour, { content: item.content });
  const element = make("div", { class: "item swatch", role: "img", "aria-label": label });
  element.style.backgroundColor = item.content;
  return { element, label, ready: Promise.resolve() };
}

function image(item, server, texts) {
  const picture = make("img", { class: "item", alt: item.content, draggable: "false" });
  const element = make("div", { class: "frame" }, picture);
  const load = async () => {
    picture.src = server.fileAddress(item.address);
    await picture.decode();
  };
  return { element, label: item.content, ready: untilLoaded(load, element, texts) };
}

function playable(item, server, texts) {
  const player = make(item.kind, { class: "item", controls: true, preload: "auto", playsinline: true });
  player.setAttribute("aria-label", item.content);
  const element = make("div", { class: `frame ${item.kind}` }, player);
  const load = () =>
    new Promise((resolve, reject) => {
      player.addEventListener("loadeddata", resolve, { once: true });
      player.addEventListener("error", reject, { once: true });
      player.src = server.fileAddress(item.address);
      player.load();
      setTimeout(resolve, 1000 * ENOUGH_OF_A_FILM);
    });
  return { element, label: item.content, playable: true, ready: untilLoaded(load, element, texts) };
}

/** Try to load until it works; from the third time on, say so in place of the item. */
async function untilLoaded(load, element, texts) {
  for (let wait = 0.5, tries = 1; ; wait = Math.min(2 * wait, LONGEST_WAIT), tries += 1) {
    try {
      await load();
      element.classList.remove("missing");
      element.querySelector(".not-loaded")?.remove();
      return;
    } catch {
      if (tries === 3) {
        element.classList.add("missing");
        element.append(make("p", { class: "not-loaded", role: "status" }, texts.not_loaded));
      }
      await seconds(wait);
    }
  }
}
