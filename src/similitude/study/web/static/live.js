// The shared page: map, curve and dimensions come as events, and are written as text, never as HTML.
"use strict";

const { root, link } = document.getElementById("live").dataset;
const base = `${root}/live/${link}`;
let drawn = {};
let latest = null;

function show(state) {
  latest = state;
  write("answers", `${answersOf(state.answers)} so far${state.latest ? `, the last at ${clock(state.latest)}` : ""}`);
  const last = drawCurve("curve", state.curve, state.ceiling);
  write("curve-note", last ? `${percent(last.accuracy)} (${percent(last.low)} to ${percent(last.high)}), ${asOf(last.answers, last.at)}.` : "There are too few answers to tell yet.");
  write("map-note", mapNote(state.map, state.as_of));
  drawMap("map", state.map, drawn);
  showDimensions(state.dimensions);
}

function element(tag, text, kind) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function showDimensions(found) {
  at("dimensions").hidden = !found;
  if (!found) return;
  write("dimensions-note", `By which people seem to go, ${asOf(found.answers, found.at)}; the items that have most of each. ` +
    "Names with a question mark are suggestions.");
  const boxes = found.dimensions.map((one) => {
    const box = document.createElement("section");
    box.append(element("h3", `${one.number} ${one.name}${one.suggested ? "?" : ""}${one.doubtful ? " (does not reproduce)" : ""}`));
    const list = document.createElement("ol");
    for (const item of one.items) {
      const row = element("li", item.name), bar = element("span", "", "bar");
      bar.appendChild(document.createElement("i")).style.width = `${100 * item.share}%`;
      row.append(bar);
      list.append(row);
    }
    box.append(list);
    return box;
  });
  at("dimension-list").replaceChildren(...boxes);
}

async function begin() {
  const known = await fetch(`${base}/items`).catch(() => null);
  if (known && known.status === 404) return fault("This link was ended.");
  if (!known || !known.ok) {
    fault("The server does not answer; this page goes on by itself when it does.");
    setTimeout(begin, 3000);
    return;
  }
  drawn = await known.json();
  const events = new EventSource(`${base}/events`);
  events.addEventListener("shared", (event) => show(JSON.parse(event.data)));
  events.onopen = () => fault(null);
  events.onerror = () => {
    fault("The server does not answer; this page goes on by itself when it does.");
    if (events.readyState === EventSource.CLOSED) begin();
  };
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => latest && show(latest));
begin();
