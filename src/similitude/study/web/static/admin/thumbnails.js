// An item made small: its picture, its colour, its first words, or a sign for what is heard.

import { make } from "../dom.js";

const SIGNS = { audio: "♪", video: "▶" };

export function thumbnails(items) {
  const known = new Map(items.map((item) => [item.name, item]));
  return { of: (name) => thumbnail(known.get(name) ?? { name, kind: "missing", content: "" }) };
}

export function thumbnail(item) {
  return make("span", { class: `thumb ${item.kind}`, title: item.name }, face(item), make("span", { class: "called", dir: "auto" }, item.name));
}

function face(item) {
  if (item.kind === "image") return make("img", { src: `${item.address}?small=true`, alt: "", loading: "lazy", decoding: "async" });
  if (item.kind === "colour") {
    const swatch = make("span", { class: "swatch" });
    swatch.style.backgroundColor = item.content;
    return swatch;
  }
  const words = SIGNS[item.kind] ?? (item.kind === "missing" ? "?" : String(item.content).slice(0, 60));
  return make("span", { class: "words", dir: "auto", "aria-hidden": "true" }, words);
}
