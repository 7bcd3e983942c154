// The page of one study: figures come as events, and are written as text, never as HTML.
"use strict";

const { study, root, random } = document.getElementById("study").dataset;
const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const percent = (share) => (100 * share).toFixed(1) + "%";
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();  // of light or dark mode
const thin = (name) => colour(name) + "26";  // hardly to be seen
const still = { displayModeBar: false, responsive: true };
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");  // plotly reads a little HTML
let drawn = {};
const latest = {};  // what came last, by event

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

function showNow(now) {
  const totals = now.totals;
  write("running", now.state);
  at("running").className = "pill " + now.state;
  write("pause", now.paused ? "Resume" : "Pause");
  at("pause").hidden = ["draft", "closed"].includes(now.state);
  at("pause").disabled = false;
  at("piloted").hidden = !now.pilot.raters;
  write("pilot", `${number.format(now.pilot.answers)} more answers by ${number.format(now.pilot.raters)} raters of the pilot are kept apart.`);
  at("pausing").action = `${root}/admin/${study}/${now.paused ? "resume" : "pause"}`;
  write("answers", number.format(totals.answers));
  write("outcomes", partsOfAnswers(now));
  write("raters-count", number.format(totals.raters));
  const seats = totals.limit ? `; ${number.format(totals.seats)} of ${number.format(totals.limit)} seats taken` : "";
  const out = totals.left_out ? `; ${number.format(totals.left_out)} left out` : "";
  write("raters-more", `${number.format(totals.finished)} finished, ${number.format(totals.busy)} answering now${seats}${out}`);
  write("rate", totals.per_minute.toFixed(1));
  showModelState(now.model);
  showMinutes(now);
  showRaters(now.raters);
  showNotServed(now.not_served);
  showConditions(now.design);
}

/** What the number of answers is made of: by the question, and by what was said. */
function partsOfAnswers({ totals, strategies, outcomes }) {
  const named = [[strategies.practice, "practice"], [strategies.catch, "catch trials"]].filter(([count]) => count);
  const asked = named.length ? [`${number.format(totals.own)} to the study's own questions`] : [];
  asked.push(...named.map(([count, word]) => `${number.format(count)} ${word}`));
  const said = [`${number.format(outcomes.cant_tell || 0)} can't tell`, `${number.format(outcomes.skipped || 0)} skipped`];
  if (outcomes.not_shown) said.push(`${number.format(outcomes.not_shown)} could not be shown`);
  if (outcomes.redacted) said.push(`${number.format(outcomes.redacted)} erased`);
  return [asked, said].filter((part) => part.length).map((part) => part.join(", ")).join("; ");
}

function showNotServed(files) {
  at("not-served").hidden = !files.length;
  const more = files.length > 5 ? ` and ${number.format(files.length - 5)} more` : "";
  write("not-served", `Raters cannot see these items, since their files are gone or damaged: ${files.slice(0, 5).join(", ")}${more}. Put them back as they were.`);
}

function showModelState(model) {
  write("model-state", model.state);
  at("model-state").className = "pill " + model.state;
  write("model-version", model.version ? model.version === 1 ? "fitted once" : `fitted ${number.format(model.version)} times` : "");
  write("model-words", model.words);
}

function showMinutes(now) {
  const x = now.minutes.map(([second]) => new Date(1000 * second));
  const y = now.minutes.map(([, count]) => count);
  Plotly.react("minutes", [{ type: "bar", x, y, marker: { color: colour("accent") }, hovertemplate: "%{y} answers<extra></extra>" }],
    layout({ bargap: .1, xaxis: { tickformat: "%H:%M", nticks: 6 }, yaxis: { range: [0, Math.max(5, ...y) * 1.05], nticks: 5, title: { text: "answers" } } }), still);
  const names = { information_gain: "chosen", uncertainty: "chosen", random: "at random", fallback: "at random, for want of a model",
    repeat: "asked again", practice: "practice", catch: "catch trials" };
  const parts = {};
  for (const [name, count] of Object.entries(now.strategies)) {
    const word = names[name] || name;
    parts[word] = (parts[word] || 0) + count;
  }
  const order = Object.entries(parts).sort((a, b) => b[1] - a[1]);
  write("strategies", order.map(([word, count]) => `${number.format(count)} ${word}`).join(", "));
}

function cell(row, text, kind) {
  const one = row.insertCell();
  one.textContent = text;
  if (kind) one.className = kind;
}

function showRaters(raters) {
  const body = at("raters").tBodies[0];
  const fresh = document.createElement("tbody");
  for (const rater of raters) {
    const row = fresh.insertRow();
    if (rater.left_out || rater.flags.length) row.className = rater.left_out ? "gone" : "flagged";
    const link = row.insertCell().appendChild(document.createElement("a"));
    link.href = `${root}/admin/${study}/rater?code=${encodeURIComponent(rater.code)}`;
    link.textContent = rater.condition ? `${rater.code} (${rater.condition})` : rater.code;
    cell(row, (rater.left_out ? ["left out"] : []).concat(rater.flags).join("; "));
    cell(row, number.format(rater.answered) + (rater.finished ? " ✓" : ""), "n");
    cell(row, rater.catches ? `${rater.catches_passed} of ${rater.catches}` : "–", "n");
    cell(row, rater.agreement === null ? "–" : percent(rater.agreement), "n");
    cell(row, rater.seconds === null ? "–" : rater.seconds.toFixed(1), "n");
    cell(row, new Date(1000 * rater.joined).toLocaleString([], { dateStyle: "short", timeStyle: "short" }));
  }
  if (!raters.length) {
    const none = fresh.insertRow().insertCell();
    none.textContent = "Nobody has come yet.";
    none.colSpan = 7;
  }
  if (fresh.innerHTML !== body.innerHTML) body.replaceWith(fresh);
}

function showModel(model) {
  showAdvice(model.advice);
  showCurve(model.curve, model.ceiling, Boolean(model.map));
  showItems(model.items);
  showMap(model.map);
}

function showAdvice(advice) {
  at("advice").hidden = !advice;
  if (advice) {
    write("advice", advice.sentence);
    at("advice").className = "advice " + advice.verdict;
  }
}

/** Why there is no accuracy: it is measured on answers to questions that were drawn evenly. */
function whyNoAccuracy(hasModel) {
  if (Number(random) === 0) return "cannot be told: random_share is 0";
  return hasModel ? "needs more answers to evenly drawn questions" : "needs a model";
}

function showCurve(curve, ceiling, hasModel) {
  const last = curve[curve.length - 1];
  write("accuracy", last ? percent(last.accuracy) : "–");
  write("accuracy-more", last ? `${percent(last.low)} to ${percent(last.high)}, ${number.format(last.tested)} tested` : whyNoAccuracy(hasModel));
  const x = curve.map((point) => point.answers);
  const end = last ? last.answers * 1.03 : 100;
  const traces = [];
  const shapes = [{ type: "line", x0: 0, x1: 1, xref: "paper", y0: .5, y1: .5, line: { color: colour("edge"), dash: "dot", width: 1 } }];
  const notes = [{ x: 1, xref: "paper", xanchor: "right", y: .5, yanchor: "bottom", text: "chance", showarrow: false, font: { color: colour("soft"), size: 11 } }];
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
  Plotly.react("curve", traces, layout({ shapes, annotations: notes,
    xaxis: { title: { text: "answers" }, range: [0, end], nticks: 6 }, yaxis: { tickformat: ".0%", range: [.45, 1.01], nticks: 7 } }), still);
}

function showItems(items) {
  const box = document.createElement("div");
  box.className = "need";
  for (const item of items.slice(0, 8)) {
    const name = document.createElement("span"), bar = document.createElement("span"), count = document.createElement("span");
    name.className = "name";
    name.textContent = name.title = item.name;
    bar.className = "bar";
    bar.title = `its place is unsure to ${Math.round(100 * item.unsure)}% of the map's spread`;
    bar.appendChild(document.createElement("i")).style.width = `${100 * item.unsure}%`;
    count.textContent = item.answers === 1 ? "1 answer" : `${number.format(item.answers)} answers`;
    count.className = "small";
    box.append(name, bar, count);
  }
  const note = document.createElement("p");
  note.className = "small";
  note.textContent = items.length ? "The longer the bar, the less sure the item's place." : "Known once there is a model.";
  at("items").replaceChildren(box, note);
}

function showMap(map) {
  write("map-note", map ? `${number.format(map.names.length)} items; what lies close is seen as alike. The axes have no meaning.` : "There is no model yet.");
  at("map").hidden = !map;
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
  Plotly.react("map", [dots], layout({ images, hovermode: "closest", margin: { l: 8, r: 8, t: 8, b: 8 },
    xaxis: { range: room(x), ...none }, yaxis: { range: room(y), scaleanchor: "x", ...none } }), still);
}

function fault(text) {
  at("fault").hidden = !text;
  write("fault", text || "");
}

async function begin() {
  const known = await fetch(`${root}/admin/${study}/items`).catch(() => null);
  if (known && known.status === 401) {
    location.href = `${root}/admin/-/login`;
    return;
  }
  if (!known || !known.ok) {
    fault("The server does not answer; this page goes on by itself when it does.");
    setTimeout(begin, 3000);
    return;
  }
  drawn = await known.json();
  follow();
}

const SHOWN = { now: showNow, model: showModel };

// charts are drawn in the colours of the moment
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [name, state] of Object.entries(latest)) SHOWN[name](state);
});

function follow() {
  const events = new EventSource(`${root}/admin/${study}/events`);
  for (const name of Object.keys(SHOWN)) {
    events.addEventListener(name, (event) => SHOWN[name]((latest[name] = JSON.parse(event.data))));
  }
  events.addEventListener("fault", (event) => fault(JSON.parse(event.data).detail));
  events.onopen = () => fault(null);
  events.onerror = () => {
    fault("The server does not answer; this page goes on by itself when it does.");
    if (events.readyState === EventSource.CLOSED) begin();
  };
}

begin();
