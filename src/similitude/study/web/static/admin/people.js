// Lists of raters and of submissions: tick several at once, and say how many are ticked. Everything works without it.
"use strict";

const boxes = [...document.querySelectorAll("#bulk tbody input[type=checkbox]")];
const all = document.getElementById("tick-all");
const clear = document.getElementById("tick-clear");
const said = document.getElementById("ticked");

function count() {
  const ticked = boxes.filter((box) => box.checked).length;
  said.textContent = ticked ? `${ticked} ticked` : "";
  all.checked = ticked > 0 && ticked === boxes.length;
  all.indeterminate = ticked > 0 && ticked < boxes.length;
}

function tick(which) {
  for (const box of boxes) box.checked = which(box);
  count();
}

if (boxes.length) {
  all.hidden = false;
  all.addEventListener("change", () => tick(() => all.checked));
  for (const box of boxes) box.addEventListener("change", count);
  if (clear) {
    clear.hidden = false;
    clear.addEventListener("click", () => tick((box) => "clear" in box.dataset));
  }
  count();
}
