// Items on the screen: pictures, texts, sounds, films, colours. They are made and loaded before they are shown.

import { fill, make, seconds } from "./dom.js";

const LONGEST_WAIT = 10;
const LONGEST_DECODING = 3; // seconds: a picture that is there is shown, even where a browser never says that it is decoded
const ENOUGH_OF_A_FILM = 8; // some browsers load sounds and films only when they are played
const HEARD = 1; // seconds of a sound or film after which it can be judged; a shorter one to its end
const MISSED = 0.3; // seconds that may lack of a whole one: browsers tell what was played now and then only
const LONG_TEXT = 60;

/**
 * The items of a question as views: their element, a label, perhaps a button to enlarge, and whether they are to be
 * `seen`. `ready` resolves when all are loaded; `broken` when one cannot be shown, although the server can be reached;
 * `played` when each sound and film has been, where there are any (`plays`).
 */
export function prepare(question, server, setup) {
  const views = question.shown.map((item) => KINDS[item.kind](item, server, setup));
  return {
    views,
    kinds: new Set(question.shown.map((item) => item.kind)),
    long: question.shown.some((item) => item.kind === "text" && item.content.length > LONG_TEXT),
    plays: views.some((view) => view.playable),
    ready: Promise.all(views.map((view) => view.ready)),
    played: Promise.all(views.map((view) => view.played)),
    broken: Promise.race(views.map((view) => view.broken ?? new Promise(() => {}))),
  };
}

const KINDS = { image, text, colour, audio: playable, video: playable };

function text(item) {
  const element = make("div", { class: "item text", dir: "auto" }, item.content);
  return { element, label: item.content, ready: Promise.resolve(), seen: () => hasRoom(element) };
}

function colour(item, server, { texts }) {
  const label = fill(texts.colour, { content: item.content });
  const element = make("div", { class: "item swatch", role: "img", "aria-label": label });
  element.style.backgroundColor = item.content;
  const meant = channels(element.style.backgroundColor);
  const seen = () => hasRoom(element) && channels(getComputedStyle(element).backgroundColor) === meant;
  return { element, label, ready: Promise.resolve(), seen };
}

function image(item, server, { texts, enlarge }) {
  const picture = make("img", { class: "item", alt: item.content, draggable: "false" });
  const element = make("div", { class: "frame" }, picture);
  const address = server.fileAddress(item.address);
  const load = async () => {
    picture.src = address;
    const there = new Promise((resolve) => picture.addEventListener("load", resolve, { once: true }));
    await Promise.race([picture.decode(), there.then(() => seconds(LONGEST_DECODING))]);
  };
  const larger = enlarge ? enlargeButton(item.content, address, texts) : null;
  return { element, larger, label: item.content, seen: () => hasRoom(picture), ...loading(load, element, address, texts) };
}

function playable(item, server, { texts, timing }) {
  const player = make(item.kind, { class: "item", controls: true, preload: "auto", playsinline: true });
  player.setAttribute("aria-label", item.content);
  const element = make("div", { class: `frame ${item.kind}` }, player);
  const address = server.fileAddress(item.address);
  const load = () =>
    new Promise((resolve, reject) => {
      player.addEventListener("loadeddata", resolve, { once: true });
      player.addEventListener("error", reject, { once: true });
      player.src = address;
      player.load();
      setTimeout(resolve, 1000 * ENOUGH_OF_A_FILM);
    });
  const found = loading(load, element, address, texts);
  const breaks = () => player.error?.code === MediaError.MEDIA_ERR_DECODE && found.giveUp(); // in the midst of it
  found.ready.then(() => player.addEventListener("error", breaks));
  return { element, label: item.content, playable: true, seen: () => hasRoom(player), played: untilPlayed(player, timing.toTheEnd), ...found };
}

/** Resolves when a sound or film has been played for a moment, or whole; what was jumped over does not count. */
function untilPlayed(player, toTheEnd) {
  const secondsPlayed = () =>
    Array.from({ length: player.played.length }, (_, k) => player.played.end(k) - player.played.start(k)).reduce((a, b) => a + b, 0);
  return new Promise((resolve) => {
    const heard = () => (toTheEnd && Number.isFinite(player.duration) ? player.duration - MISSED : HEARD);
    player.addEventListener("timeupdate", () => secondsPlayed() >= heard() && resolve());
    player.addEventListener("ended", () => (!toTheEnd || secondsPlayed() >= heard()) && resolve());
  });
}

// --- loading ---

function loading(load, element, address, texts) {
  let tell;
  const broken = new Promise((resolve) => (tell = resolve));
  const giveUp = () => {
    if (element.classList.contains("missing")) return;
    element.classList.add("missing");
    element.append(make("p", { class: "not-loaded", role: "status" }, texts.not_loaded));
    tell();
  };
  return { broken, giveUp, ready: untilLoaded(load, element, address, giveUp) };
}

/** Try to load until it works; where the item itself is at fault, say so in its place, and tell. */
async function untilLoaded(load, element, address, giveUp) {
  for (let wait = 0.5, tries = 1; ; wait = Math.min(2 * wait, LONGEST_WAIT), tries += 1) {
    try {
      await load();
      element.classList.remove("missing");
      element.querySelector(".not-loaded")?.remove();
      return;
    } catch {
      if (tries >= 3 && (await isAtFault(address))) giveUp();
      await seconds(wait);
    }
  }
}

/** Whether a file that does not load is at fault, and not the network or the server. */
async function isAtFault(address) {
  try {
    return (await fetch(address, { cache: "no-store" })).status < 500;
  } catch {
    return false;
  }
}

// --- seeing ---

function hasRoom(element) {
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1;
}

/** Red, green and blue of a colour as the browser says it, with spaces between. */
export function channels(colour) {
  return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).join(" ");
}

function enlargeButton(label, address, texts) {
  const button = make("button", { class: "enlarge", "aria-label": fill(texts.enlarge, { content: label }) });
  button.addEventListener("click", () => showLarge(label, address, texts));
  return button;
}

/** A picture as large as the screen, until Escape, the button, or a press anywhere. */
function showLarge(label, address, texts) {
  const close = make("button", { class: "main" }, texts.close);
  const dialog = make("dialog", { class: "large", "aria-label": label }, make("img", { src: address, alt: label }), close);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}
