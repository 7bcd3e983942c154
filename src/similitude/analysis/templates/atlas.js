// The map answers: to pointing and the keyboard, search, colours, zoom, and turning where there are three dimensions.
// Pictures never hide each other (thumbnails.js). At rest names stand where the report put them; enlarged, turned or on a narrow screen they find room anew.
const data = JSON.parse(document.getElementById("atlas-data").textContent);
const atlas = document.getElementById("atlas");
const part = (name) => atlas.querySelector(`.${name}`);
const nodes = [...atlas.querySelectorAll(".item")];
const sures = [...atlas.querySelectorAll(".sure")].map((node) => ({
  node, item: Number(node.dataset.item), bar: node.tagName === "rect", ry: Number(node.getAttribute("ry")),
  rx: Number(node.getAttribute("rx") ?? -node.getAttribute("x")),  // a bar is as long, and never thicker
  turn: node.getAttribute("transform").match(/rotate\(.*\)/)[0],
}));
const labels = nodes.map((node, k) => {
  const text = node.querySelector("text"), lead = node.querySelector(".lead");
  return { text, lead, x: text.getAttribute("x"), y: text.getAttribute("y"), anchor: text.getAttribute("text-anchor"),
    quiet: text.classList.contains("quiet"), long: data.long[k] };
});
const radius = data.radius, narrow = 600, reach = 24, line = 13, gap = 3;
let width = data.width, height = data.height;
let zoom = 1, shift = [0, 0], turned = [0.5, 0.35], solid = false;
let kept = null, places = data.places;
const images = nodes.map((node) => node.querySelector("image"));
let size = data.picture, spots = [];  // of pictures; where they stand on this screen: { x, y, aside }, or null for a dot
const stand = (k) => (spots[k] ? [spots[k].x, spots[k].y] : places[k]);
const radiusOf = (k) => (spots[k] ? size / 2 : radius);

// Where items stand on this screen.
function turn([x, y, z]) {
  const [a, b] = turned;
  const across = x * Math.cos(a) + z * Math.sin(a), deep = z * Math.cos(a) - x * Math.sin(a);
  return [across, y * Math.cos(b) - deep * Math.sin(b), y * Math.sin(b) + deep * Math.cos(b)];
}
function place() {
  const scale = zoom * Math.min(width / data.width, height / data.height);
  const middle = [data.width / 2, data.height / 2];
  return data.places.map((own, k) => {
    const [x, y, deep] = solid ? turn(data.solid[k]) : [own[0] - middle[0], own[1] - middle[1], 0];
    return [width / 2 + shift[0] + scale * x, height / 2 + shift[1] + scale * y, deep];
  });
}
const atRest = () => zoom === 1 && !solid && width === data.width && !shift[0] && !shift[1];

// Room for names: right of the point, left, above, below, then the corners, as display/room.py looks for it. A name is
// nearer to its own point than to any other.
function standing() {
  if (!data.pictures.some(Boolean)) return;
  if (atRest()) {
    size = data.picture;
    spots = data.spots.map((own, k) => own && { x: places[k][0] + own[0], y: places[k][1] + own[1], aside: own[2] });
  } else {
    const here = places.map(([x, y], k) => data.pictures[k] && x >= 0 && y >= 0 && x <= width && y <= height);
    ({ size, spots } = layOut(places, here, width, height, ...data.sizes));
  }
  const over = [];
  images.forEach((image, k) => {
    if (!image) return;
    image.style.display = spots[k] ? "inline" : "none";
    const [x, y] = stand(k);
    const box = { x: x - places[k][0] - size / 2, y: y - places[k][1] - size / 2, width: size, height: size };
    for (const [name, value] of Object.entries(box)) image.setAttribute(name, value.toFixed(1));
    if (spots[k] && !spots[k].aside) return;
    const [u, v] = places[k], end = spots[k] && edgeOf(places[k], spots[k], size);
    if (end) over.push(drawn("line", { x1: u, y1: v, x2: end.x, y2: end.y }));
    over.push(drawn("circle", { cx: u, cy: v, r: 2.5 }));
  });
  part("ties").replaceChildren(...over);
}
const gapTo = ([left, top, right, bottom], [x, y]) => Math.hypot(Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0));
function arrange() {
  const stands = places.map((_, k) => stand(k));
  const taken = stands.map(([x, y], k) => [x - radiusOf(k), y - radiusOf(k), x + radiusOf(k), y + radiusOf(k)]);
  const crosses = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  for (const k of data.order) {
    const [x, y] = stands[k], { text, long, lead } = labels[k], side = radiusOf(k) + gap;
    const corner = 0.7 * side;
    const spots = [
      ["start", side, 4, [x + side, y - line / 2, x + side + long, y + line / 2]],
      ["end", -side, 4, [x - side - long, y - line / 2, x - side, y + line / 2]],
      ["middle", 0, -side - gap, [x - long / 2, y - side - line, x + long / 2, y - side]],
      ["middle", 0, side + line - gap, [x - long / 2, y + side, x + long / 2, y + side + line]],
      ["start", corner, -corner - gap, [x + corner, y - corner - line, x + corner + long, y - corner]],
      ["start", corner, corner + line - gap, [x + corner, y + corner, x + corner + long, y + corner + line]],
      ["end", -corner, -corner - gap, [x - corner - long, y - corner - line, x - corner, y - corner]],
      ["end", -corner, corner + line - gap, [x - corner - long, y + corner, x - corner, y + corner + line]],
    ];
    const free = spots.find(([, , , box]) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height
      && !taken.some((other, j) => j !== k && crosses(box, other))
      && !stands.some((other, j) => j !== k && gapTo(box, other) < gapTo(box, stands[k])));
    const [anchor, dx, dy, box] = free || spots[0];
    write(text, x - places[k][0] + dx, y - places[k][1] + dy, anchor, !free);
    if (lead) lead.style.display = "none";
    if (free) taken.push(box);
  }
}
function write(text, x, y, anchor, quiet) {
  text.setAttribute("x", x); text.setAttribute("y", y); text.setAttribute("text-anchor", anchor);
  text.classList.toggle("quiet", quiet);
}
function asReported() {
  labels.forEach(({ text, lead, x, y, anchor, quiet }) => {
    write(text, x, y, anchor, quiet);
    if (lead) lead.style.display = "";
  });
}

function draw() {
  atlas.setAttribute("viewBox", `0 0 ${width} ${height}`);
  places = place();
  const far = solid ? Math.max(...places.map((own) => Math.abs(own[2])), 1) : 1;
  nodes.forEach((node, k) => {
    const [x, y, deep] = places[k];
    node.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    node.style.opacity = solid ? 0.65 + 0.35 * (deep / far) : "";
  });
  standing();
  const scale = zoom * Math.min(width / data.width, height / data.height);
  part("sures").style.display = solid ? "none" : "";
  for (const { node, item, bar, rx, ry, turn } of sures) {
    const [first, second] = bar ? [["x", -rx], ["width", 2 * rx]] : [["rx", rx], ["ry", ry]];
    for (const [name, value] of [first, second]) node.setAttribute(name, value * scale);
    node.setAttribute("transform", `translate(${places[item][0]} ${places[item][1]}) ${turn}`);
  }
  (atRest() ? asReported : arrange)();
  atlas.classList.toggle("resting", atRest());
  if (key) key.hidden = !atRest();
  for (const said of document.querySelectorAll(".keyed")) said.hidden = !atRest();
  document.querySelector(".unkeyed").hidden = atRest() || !part("items").querySelector(".quiet");
  atlas.style.touchAction = zoom > 1 || solid ? "none" : "pan-y";
  show(kept);
}

function drawn(kind, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// One item: its whole name, lines to those most like it, and these in words.
function show(item) {
  part("lines").replaceChildren();
  part("captions").replaceChildren();
  nodes.forEach((node) => node.classList.remove("here", "near"));
  sures.forEach(({ node, item: own }) => node.classList.toggle("here", own === item));
  atlas.classList.toggle("pointed", item !== null);
  const said = document.getElementById("atlas-said");
  if (item === null) { said.textContent = ""; return; }
  nodes[item].classList.add("here");
  const near = data.near[item];
  said.textContent = `${data.names[item]}: most like ${near.map((k) => data.names[k]).join(", ")}`;
  for (const k of near) {
    nodes[k].classList.add("near");
    part("lines").append(drawn("line", { x1: places[item][0], y1: places[item][1], x2: places[k][0], y2: places[k][1] }));
  }
  for (const k of [...near, item]) caption(k, k === item);
}
function caption(k, whole) {
  const { text, long } = labels[k], copy = text.cloneNode(true);
  copy.setAttribute("x", places[k][0] + Number(text.getAttribute("x")));
  copy.setAttribute("y", places[k][1] + Number(text.getAttribute("y")));
  copy.setAttribute("class", whole ? "whole" : "");
  if (whole && images[k] && !spots[k]) {  // a dot on the map: its picture is shown as long as one points at it
    const picture = images[k].cloneNode(), wide = data.sizes[0];
    const box = { x: places[k][0] - wide / 2, y: places[k][1] - wide - radius, width: wide, height: wide };
    for (const [name, value] of Object.entries(box)) picture.setAttribute(name, value);
    picture.style.display = "inline";
    part("captions").append(picture);
  }
  if (whole && (text.getAttribute("text-anchor") !== "end" || long < places[k][0])) copy.textContent = data.names[k];
  part("captions").append(copy);
}

// Pointing: a dot before a name, a name before what is merely near.
function pointed(event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(atlas.getScreenCTM().inverse());
  let best = null, least = Infinity;
  places.forEach((_, k) => {
    const [x, y] = stand(k), apart = Math.max(Math.hypot(x - at.x, y - at.y) - radiusOf(k) + radius, 0);
    if (apart < least) [best, least] = [k, apart];
  });
  if (least <= radius + 2) return best;
  const name = event.target.closest && event.target.closest(".item");
  if (name) return nodes.indexOf(name);
  return least <= reach ? best : kept;
}
const key = document.getElementById("atlas-key");
if (key) {
  key.addEventListener("pointerover", (event) => {
    const entry = event.target.closest("[data-item]");
    if (entry) show(Number(entry.dataset.item));
  });
  key.addEventListener("pointerleave", () => show(kept));
}
let held = null;
atlas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, y: event.clientY, moved: false }; });
window.addEventListener("pointerup", () => { setTimeout(() => { held = null; }); });
atlas.addEventListener("pointermove", (event) => {
  if (!held || !(zoom > 1 || solid)) { show(pointed(event)); return; }
  const by = [event.clientX - held.x, event.clientY - held.y];
  if (!held.moved && Math.hypot(...by) < 4) return;
  if (solid) turned = [turned[0] + by[0] / 150, Math.max(-1.5, Math.min(1.5, turned[1] + by[1] / 150))];
  else shift = [shift[0] + by[0], shift[1] + by[1]];
  held = { x: event.clientX, y: event.clientY, moved: true };
  draw();
});
atlas.addEventListener("pointerleave", () => show(kept));
atlas.addEventListener("click", (event) => {
  if (held && held.moved) return;
  const item = pointed(event);
  kept = kept === item ? null : item;
  show(item);
});
nodes.forEach((node, k) => node.addEventListener("focus", () => { if (!held) show(k); }));

// Zoom, search, colours.
function enlarge(by, middle = [width / 2, height / 2]) {
  const before = zoom;
  zoom = by ? Math.min(Math.max(zoom * by, 1), 40) : 1;
  const share = zoom / before;
  shift = zoom === 1 ? [0, 0] : shift.map((own, k) => (own + [width, height][k] / 2 - middle[k]) * share - [width, height][k] / 2 + middle[k]);
  draw();
}
document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
  enlarge(Number(button.dataset.zoom), kept === null ? undefined : places[kept]);
}));
atlas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(atlas.getScreenCTM().inverse());
  enlarge(event.deltaY < 0 ? 1.2 : 1 / 1.2, [at.x, at.y]);
}, { passive: false });
const search = document.getElementById("atlas-search");
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  const found = data.names.map((name) => Boolean(wanted) && name.toLowerCase().includes(wanted));
  atlas.classList.toggle("searched", Boolean(wanted));
  nodes.forEach((node, k) => node.classList.toggle("found", found[k]));
  const first = found.indexOf(true), exact = data.names.findIndex((name) => name.toLowerCase() === wanted);
  kept = exact >= 0 ? exact : first >= 0 ? first : null;
  show(kept);
});
const shade = document.getElementById("atlas-shade");
function colour() {
  const chosen = shade && shade.value !== "" ? data.shades[Number(shade.value)] : null;
  nodes.forEach((node, k) => {
    const dot = node.querySelector(".dot"), code = chosen && chosen.codes[k];
    if (!dot) return;
    dot.style.fill = chosen ? `var(${chosen.hues[code]})` : data.colours[k] || "";
    dot.setAttribute("d", data.outlines[chosen ? chosen.shapes[code] : 0]);
  });
  const legend = document.getElementById("atlas-legend");
  legend.replaceChildren(...(chosen ? chosen.labels : []).map((label, k) => {
    const entry = document.createElement("span"), sign = drawn("svg", { viewBox: "-6 -6 12 12", "aria-hidden": true });
    sign.append(drawn("path", { d: data.outlines[chosen.shapes[k]], style: `fill: var(${chosen.hues[k]})` }));
    entry.append(sign, label);
    return entry;
  }));
}
if (shade) shade.addEventListener("change", colour);
const turning = document.getElementById("atlas-solid");
if (turning) turning.addEventListener("change", () => { solid = turning.checked; shift = [0, 0]; zoom = 1; draw(); });

// As large as the screen lets it be; on paper as the report laid it out.
function fit(printing) {
  const room = atlas.parentNode.clientWidth - 14;
  if (printing !== true && room < 100) return;  // the page is not laid out yet
  width = printing === true || room >= narrow ? data.width : room;
  height = width === data.width ? data.height : Math.max(data.height * width / data.width, 0.7 * width);
  draw();
}
new ResizeObserver(fit).observe(atlas.parentNode);
window.addEventListener("beforeprint", () => { zoom = 1; shift = [0, 0]; fit(true); });
window.addEventListener("afterprint", fit);
colour();
