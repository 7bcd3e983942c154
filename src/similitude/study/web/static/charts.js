// Charts of a study, for its page and for the shared one: the accuracy on held-out answers, and the map.
"use strict";

const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const percent = (share) => (100 * share).toFixed(1) + "%";
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();  // of light or dark mode
const thin = (name) => colour(name) + "26";  // hardly to be seen
const still = { displayModeBar: false, responsive: true };
const clock = (second) => {  // a moment as one reads it: the day only where it is another
  const then = new Date(1000 * second), today = then.toDateString() === new Date().toDateString();
  return then.toLocaleString([], today ? { timeStyle: "short" } : { dateStyle: "short", timeStyle: "short" });
};
const answersOf = (count) => (count === 1 ? "1 answer" : `${number.format(count)} answers`);
/** Of how many answers a figure is, and when it was found. */
const asOf = (answers, at) => (answers === null || at === null ? "" : `as of ${answersOf(answers)}, ${clock(at)}`);
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");  // plotly reads a little HTML

function write(id, text) {
  if (at(id).textContent !== text) at(id).textContent = text;
}

function layout(more) {
  const axis = { gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line") };
  return Object.assign({
    margin: { l: 44, r: 12, t: 8, b: 36 }, font: { family: "system-ui, sans-serif", size: 12, color: colour("ink") },
    template: { layout: { xaxis: axis, yaxis: axis } }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
  }, more);
}

const CHANCE = .5;  // of a comparison of two pairs, which is what is counted

/** Draw the curve: all points, their intervals, chance and the ceiling are on it; its last point, or undefined. */
function drawCurve(id, curve, ceiling) {
  const last = curve[curve.length - 1];
  const x = curve.map((point) => point.answers);
  const end = last ? last.answers * 1.03 : 100;
  const band = ceiling ? [ceiling.low, ceiling.high] : [];
  const least = Math.min(CHANCE, ...band, ...curve.map((point) => Math.min(point.low, point.accuracy)));
  const traces = [];
  const shapes = [{ type: "line", x0: 0, x1: 1, xref: "paper", y0: CHANCE, y1: CHANCE, line: { color: colour("edge"), dash: "dot", width: 1 } }];
  const notes = [{ x: 1, xref: "paper", xanchor: "right", y: CHANCE, yanchor: "bottom", text: `chance ${(100 * CHANCE).toFixed(0)}%`, showarrow: false, font: { color: colour("soft"), size: 11 } }];
  if (ceiling) {
    shapes.push({ type: "rect", x0: 0, x1: 1, xref: "paper", y0: ceiling.low, y1: ceiling.high, fillcolor: thin("good"), line: { width: 0 } });
    shapes.push({ type: "line", x0: 0, x1: 1, xref: "paper", y0: ceiling.value, y1: ceiling.value, line: { color: colour("good"), width: 1 } });
    notes.push({ x: 0.01, xref: "paper", xanchor: "left", y: ceiling.value, yanchor: ceiling.value > 0.95 ? "top" : "bottom", showarrow: false,
      text: `noise ceiling ${(100 * ceiling.value).toFixed(0)}%`, font: { color: colour("good"), size: 11 } });
  }
  traces.push({ x: x.concat([...x].reverse()), y: curve.map((p) => p.high).concat(curve.map((p) => p.low).reverse()), fill: "toself",
    fillcolor: thin("accent"), line: { width: 0 }, hoverinfo: "skip", mode: "lines" });
  traces.push({ x, y: curve.map((point) => point.accuracy), mode: "lines+markers", line: { color: colour("accent") },
    hovertemplate: "%{y:.1%} after %{x} answers<extra></extra>" });
  Plotly.react(id, traces, layout({ shapes, annotations: notes,
    xaxis: { title: { text: "answers" }, range: [0, end], nticks: 6 }, yaxis: { tickformat: ".0%", range: [Math.max(least - .05, -.01), 1.01], nticks: 7 } }), still);
  return last;
}

function mapNote(map, as_of) {
  if (!map) return "There is no model yet.";
  const when = as_of && asOf(as_of.answers, as_of.at);
  return `${number.format(map.names.length)} items${when ? `, ${when}` : ""}; what lies close is seen as alike. The axes have no meaning.`;
}

const LARGEST = { image: 64, colour: 22 }, SMALLEST = { image: 16, colour: 9 }, MARGIN = 36;  // of a picture, in pixels; around the map

/** Places in pixels of a box, and how many pixels a unit of the map is; the middle of the map is that of the box. */
function inPixels(places, width, height) {
  const ends = [0, 1].map((axis) => places.map((place) => place[axis])).map((own) => [Math.min(...own), Math.max(...own)]);
  const [across, up] = ends.map(([low, high]) => Math.max(high - low, 1e-9));
  const unit = Math.min((width - 2 * MARGIN) / across, (height - 2 * MARGIN) / up);
  const middle = ends.map(([low, high]) => (low + high) / 2);
  return { unit, middle, place: places.map(([x, y]) => [width / 2 + (x - middle[0]) * unit, height / 2 - (y - middle[1]) * unit]) };
}

/** On which side of its dot each name has room, as reports write names (display/room.py); null where it has none. */
function besideDots(place, texts, width, height) {
  const pen = document.createElement("canvas").getContext("2d"), dot = 5, line = 15, side = 6;
  pen.font = "12px system-ui, sans-serif";
  const taken = place.map(([x, y]) => [x - dot, y - dot, x + dot, y + dot]), found = texts.map(() => null);
  for (const k of spreadFirst(place)) {
    if (!texts[k]) continue;
    const [x, y] = place[k], long = pen.measureText(texts[k]).width + 2;
    const boxes = {
      "middle right": [x + side, y - line / 2, x + side + long, y + line / 2], "middle left": [x - side - long, y - line / 2, x - side, y + line / 2],
      "top center": [x - long / 2, y - side - line, x + long / 2, y - side], "bottom center": [x - long / 2, y + side, x + long / 2, y + side + line],
    };
    const free = Object.keys(boxes).find((one) => {
      const [left, top, right, bottom] = boxes[one];
      return left >= 0 && top >= 0 && right <= width && bottom <= height &&
        !taken.some((other, j) => j !== k && left < other[2] && other[0] < right && top < other[3] && other[1] < bottom);
    });
    if (!free) continue;
    found[k] = free;
    taken.push(boxes[free]);
  }
  return found;
}

/** Draw the map; `drawn` is how each item is shown, by name. Pictures and colours hide none of each other (`thumbnails.js`). */
function drawMap(id, map, drawn) {
  at(id).hidden = !map;
  if (!map) return;
  watchSize(id, () => drawMap(id, map, drawn));
  const edge = 8, width = at(id).clientWidth - 2 * edge, height = at(id).clientHeight - 2 * edge;
  const { unit, middle, place } = inPixels(map.places, width, height);
  const items = map.names.map((name) => drawn[name] || { kind: "text", content: name });
  const kind = items.some((item) => item.kind === "image") ? "image" : "colour";
  const { size, spots } = layOut(place, items.map((item) => item.kind in LARGEST), width, height, LARGEST[kind], SMALLEST[kind]);
  const onMap = (spot) => [middle[0] + (spot.x - width / 2) / unit, middle[1] - (spot.y - height / 2) / unit];
  const images = [], ties = { x: [], y: [] }, stand = { x: [], y: [], names: [], colours: [], seen: [] };
  items.forEach((item, k) => {
    if (!spots[k]) return;
    const [x, y] = onMap(spots[k]);
    if (item.kind === "image") images.push({ source: item.address, x, y, xref: "x", yref: "y", sizex: size / unit, sizey: size / unit,
      xanchor: "center", yanchor: "middle", sizing: "contain", layer: "below" });
    if (item.kind === "colour" || spots[k].aside) {
      stand.x.push(x); stand.y.push(y); stand.names.push(plain(map.names[k])); stand.seen.push(item.kind === "colour" ? 1 : 0);
      stand.colours.push(item.kind === "colour" ? item.content : colour("accent"));
    }
    if (spots[k].aside) {
      const [u, v] = onMap(edgeOf(place[k], spots[k], size));
      ties.x.push(map.places[k][0], u, null);
      ties.y.push(map.places[k][1], v, null);
    }
  });
  const bare = items.map((item, k) => !spots[k] || spots[k].aside);  // a dot at its place
  const short = (text) => (text.length > 18 ? text.slice(0, 17) + "…" : text);
  const named = items.map((item, k) => (item.kind in LARGEST ? "" : short(item.kind === "text" ? item.content : map.names[k])));
  const sides = besideDots(place, named, width, height);
  const paper = { color: colour("paper"), width: 1 };
  const lines = { ...ties, type: "scatter", mode: "lines", hoverinfo: "skip", line: { color: colour("soft"), width: 1 } };
  const swatches = { x: stand.x, y: stand.y, type: "scatter", mode: "markers", cliponaxis: false, customdata: stand.names,
    hovertemplate: "%{customdata}<extra></extra>", marker: { color: stand.colours, size, opacity: stand.seen, line: paper } };
  const dots = { x: map.places.map((own) => own[0]), y: map.places.map((own) => own[1]), type: "scatter", mode: "markers+text",
    text: named.map((text, k) => (sides[k] ? plain(text) : "")), textposition: sides.map((one) => one || "top center"), cliponaxis: false, customdata: map.names.map(plain), hovertemplate: "%{customdata}<extra></extra>",
    marker: { color: items.map((item) => (item.kind === "colour" ? item.content : colour("accent"))),
      size: items.map((item) => (item.kind in LARGEST ? 6 : 7)), opacity: bare.map((shown) => (shown ? 1 : 0)), line: paper } };
  const none = { visible: false, zeroline: false }, range = (axis, pixels) => [middle[axis] - pixels / 2 / unit, middle[axis] + pixels / 2 / unit];
  Plotly.react(id, [swatches, lines, dots], layout({ images, hovermode: "closest", margin: { l: edge, r: edge, t: edge, b: edge },
    xaxis: { range: range(0, width), ...none }, yaxis: { range: range(1, height), ...none } }), still);
  const left = items.filter((item, k) => (item.kind in LARGEST ? !spots[k] : !sides[k]));
  at(`${id}-room`).textContent = roomNote(left.length, ties.x.length);
}

/** What to know of pictures that do not stand at their places. */
function roomNote(left, aside) {
  const lines = aside ? "A line leads from a place to the picture of its item. " : "";
  return lines + (left ? `${left === 1 ? "1 item is a dot" : `${number.format(left)} items are dots`}, for want of room: point at one to read its name.` : "");
}

const redraw = {};  // what draws a chart whose places go by its size
const sizes = new ResizeObserver((changes) => {
  for (const { target, contentRect } of changes) {
    const now = `${Math.round(contentRect.width)} ${Math.round(contentRect.height)}`;
    if (contentRect.width && target.dataset.size !== now) {
      const known = "size" in target.dataset;
      target.dataset.size = now;
      if (known) redraw[target.id]();
    }
  }
});

function watchSize(id, draw) {
  if (!(id in redraw)) sizes.observe(at(id));
  redraw[id] = draw;
}

function fault(text) {
  at("fault").hidden = !text;
  write("fault", text || "");
}
