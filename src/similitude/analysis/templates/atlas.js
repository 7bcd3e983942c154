// Points at an item: lines to its nearest neighbours, its name before all others.
const atlas = document.getElementById("atlas");
const items = new Map([...atlas.querySelectorAll(".item")].map((item) => [item.dataset.name, item]));
const lines = atlas.querySelector(".lines");
const shortened = new Map([...items.values()].map((item) => [item, item.querySelector("text").textContent]));
let kept = null;

function show(item) {
  lines.replaceChildren();
  items.forEach((other) => {
    other.classList.remove("here", "near");
    other.querySelector("text").textContent = shortened.get(other);
  });
  atlas.classList.toggle("pointed", Boolean(item));
  if (!item) return;
  item.classList.add("here");
  item.querySelector("text").textContent = item.dataset.name;
  item.parentNode.append(item);
  for (const name of item.dataset.near.split("\n")) {
    const other = items.get(name);
    if (!other) continue;
    other.classList.add("near");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("x1", item.dataset.x);
    line.setAttribute("y1", item.dataset.y);
    line.setAttribute("x2", other.dataset.x);
    line.setAttribute("y2", other.dataset.y);
    lines.append(line);
  }
}

items.forEach((item) => {
  item.addEventListener("pointerenter", () => show(item));
  item.addEventListener("focus", () => show(item));
  item.addEventListener("click", () => { kept = kept === item ? null : item; show(kept); });
});
atlas.addEventListener("pointerleave", () => show(kept));
