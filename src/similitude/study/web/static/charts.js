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

/** Draw the map; `drawn` is how each item is shown, by name. */
function drawMap(id, map, drawn) {
  at(id).hidden = !map;
  if (!map) return;
  const x = map.places.map((place) => place[0]), y = map.places.map((place) => place[1]);
  const spread = (values) => Math.max(...values) - Math.min(...values);
  const size = Math.max(spread(x), spread(y), 1e-6) * Math.min(.11, .7 / Math.sqrt(map.names.length));
  const items = map.names.map((name) => drawn[name] || { kind: "text", content: name });
  const images = items.map((item, k) => item.kind === "image" && { source: item.address, x: x[k], y: y[k], xref: "x", yref: "y",
    sizex: size, sizey: size, xanchor: "center", yanchor: "middle", sizing: "contain", layer: "above" }).filter(Boolean);
  const colours = items.map((item) => (item.kind === "colour" ? item.content : colour("accent")));
  const bare = items.map((item) => item.kind !== "image");
  const short = (text) => (text.length > 18 ? text.slice(0, 17) + "…" : text);
  const named = items.map((item, k) => (item.kind === "image" || item.kind === "colour" ? "" : plain(short(item.kind === "text" ? item.content : map.names[k]))));
  const dots = { x, y, type: "scatter", mode: "markers+text", text: named, textposition: "top center", cliponaxis: false, customdata: map.names.map(plain),
    hovertemplate: "%{customdata}<extra></extra>",
    marker: { color: colours, size: items.map((item) => (item.kind === "colour" ? 20 : 7)), opacity: bare.map((shown) => (shown ? 1 : 0)),
      line: { color: colour("paper"), width: 1 } } };
  const none = { visible: false, zeroline: false };
  const room = (values) => [Math.min(...values) - 1.2 * size, Math.max(...values) + 1.2 * size];
  Plotly.react(id, [dots], layout({ images, hovermode: "closest", margin: { l: 8, r: 8, t: 8, b: 8 },
    xaxis: { range: room(x), ...none }, yaxis: { range: room(y), scaleanchor: "x", ...none } }), still);
}

function fault(text) {
  at("fault").hidden = !text;
  write("fault", text || "");
}
