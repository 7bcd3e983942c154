// Addresses that others are given. Where no public address is set, the server names no host, since a request may name
// any; this browser knows it.
"use strict";

const whole = (path) => new URL(path, location.origin).href;

for (const one of document.querySelectorAll("[data-path]")) {
  one.textContent = one.textContent.replace(one.dataset.path, whole(one.dataset.path));
}

/** Put a field's text into the clipboard; browsers let only secure pages do so at once, others by a selection. */
async function copied(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

for (const box of document.querySelectorAll(".given")) {
  const field = box.querySelector("[data-link]"), said = box.querySelector("[data-copied]"), button = box.querySelector("[data-copies]");
  field.value = whole(field.value);
  button.addEventListener("click", async () => {
    said.textContent = "";  // so that it is said again
    const done = await copied(field);
    if (done) button.focus();
    said.textContent = done ? "Copied." : "It is selected: press Ctrl+C, or ⌘C.";
  });
}
