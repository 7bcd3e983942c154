// The page of one study: figures come as events, and are written as text, never as HTML; `charts.js` draws them.
"use strict";

const { study, root, random, people } = document.getElementById("study").dataset;
let drawn = {};
const latest = {};  // what came last, by event

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
  write("state-means", `${now.state[0].toUpperCase()}${now.state.slice(1)}: ${now.means}`);
  write("answers", number.format(totals.answers));
  write("answers-latest", totals.latest ? `the last at ${clock(totals.latest)}` : "");
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
  if (outcomes.timed_out) said.push(`${number.format(outcomes.timed_out)} out of time`);
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
    const link = row.insertCell().appendChild(document.createElement(people === "yes" ? "a" : "span"));
    if (people === "yes") link.href = `${root}/admin/${study}/rater?code=${encodeURIComponent(rater.code)}`;
    link.textContent = rater.condition ? `${rater.code} (${rater.condition})` : rater.code;
    cell(row, (rater.left_out ? ["left out"] : []).concat(rater.flags).join("; "));
    cell(row, number.format(rater.answered) + (rater.finished ? " ✓" : ""), "n");
    cell(row, rater.catches ? `${rater.catches_passed} of ${rater.catches}` : "–", "n");
    cell(row, rater.judged === null ? "–" : number.format(rater.judged), "n");
    cell(row, rater.agreement === null ? "–" : percent(rater.agreement), "n");
    cell(row, rater.seconds === null ? "–" : rater.seconds.toFixed(1), "n");
    cell(row, new Date(1000 * rater.joined).toLocaleString([], { dateStyle: "short", timeStyle: "short" }));
  }
  if (!raters.length) {
    const none = fresh.insertRow().insertCell();
    none.textContent = "Nobody has come yet.";
    none.colSpan = 8;
  }
  if (fresh.innerHTML !== body.innerHTML) body.replaceWith(fresh);
}

function showModel(model) {
  const when = model.as_of ? asOf(model.as_of.answers, model.as_of.at) : "";
  write("raters-as-of", when && `Agreement, seconds and what is worth a look are ${when}.`);
  showAdvice(model.advice, when);
  showCurve(model.curve, model.ceiling, Boolean(model.map));
  showItems(model.items, when);
  showMap(model.map, model.as_of);
}

function showAdvice(advice, when) {
  at("advice").hidden = !advice;
  if (advice) {
    write("advice", `${advice.sentence}${when ? ` (${when[0].toUpperCase()}${when.slice(1)}.)` : ""}`);
    at("advice").className = "advice " + advice.verdict;
  }
}

/** Why there is no accuracy: it is measured on answers to questions that were drawn evenly. */
function whyNoAccuracy(hasModel) {
  if (Number(random) === 0) return "cannot be told: random_share is 0";
  return hasModel ? "needs more answers to evenly drawn questions" : "needs a model";
}

function showCurve(curve, ceiling, hasModel) {
  const last = drawCurve("curve", curve, ceiling);
  write("accuracy", last ? percent(last.accuracy) : "–");
  write("accuracy-more", last ? `${percent(last.low)} to ${percent(last.high)} on ${number.format(last.tested)} tested; ${asOf(last.answers, last.at)}; chance is ${percent(CHANCE)}` : whyNoAccuracy(hasModel));
}

function showItems(items, when) {
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
  note.textContent = items.length ? `The longer the bar, the less sure the item's place${when && `, ${when}`}.` : "Known once there is a model.";
  at("items").replaceChildren(box, note);
}

function showMap(map, as_of) {
  write("map-note", mapNote(map, as_of));
  drawMap("map", map, drawn);
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
