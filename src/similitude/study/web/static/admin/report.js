// How far the report is: asked every second while one is made; the page is loaded anew when it has ended.
"use strict";

const works = document.getElementById("works");

function show(kind, { state, words, share }) {
  const box = document.getElementById(`work-${kind}`), bar = box.querySelector("progress");
  const said = box.querySelector(".progress-words");
  bar.hidden = state !== "running";
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  const text = state === "running" ? words : "";
  if (said.textContent !== text) said.textContent = text;
}

async function look() {
  const found = await fetch(works.dataset.address).then((reply) => (reply.ok ? reply.json() : null)).catch(() => null);
  if (found) for (const [kind, one] of Object.entries(found.kinds)) show(kind, one);
  if (found && !found.under_way) location.replace(location.pathname);
  else setTimeout(look, 1000);
}

if (works.dataset.underWay === "yes") setTimeout(look, 500);
