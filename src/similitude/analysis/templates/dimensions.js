"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const place = new Map(data.items.map((name, k) => [name, k]));
  const STEPS = 200, MOST = 8;
  const field = (id) => document.getElementById(id);
  const values = (name) => place.has(name.trim()) ? data.values[place.get(name.trim())].map((v) => v / data.unit) : null;

  const make = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };

  /* rows of [label, value, text], as a table with bars; what is below 0 is said to speak against */
  const bars = (rows, head) => {
    const table = make("table", undefined, "bars"), body = make("tbody"), most = Math.max(...rows.map((r) => Math.abs(r[1])));
    const line = make("tr");
    head.forEach((text) => line.append(make("th", text)));
    const thead = make("thead");
    thead.append(line);
    for (const [label, value, text] of rows) {
      const row = make("tr", undefined, value < 0 ? "against" : ""), cell = make("td"), bar = make("span", undefined, "bar");
      bar.style.width = `${(100 * Math.abs(value)) / most}%`;
      cell.append(bar);
      row.append(make("td", label), make("td", text, "number"), cell);
      body.append(row);
    }
    table.append(thead, body);
    return table;
  };

  const profile = () => {
    const own = values(field("item").value), out = field("bars");
    if (!own) return out.replaceChildren(make("p", "Not an item of this model."));
    const rows = own.map((v, k) => [data.labels[k], v, v.toFixed(2)]).filter((r) => r[1] > 0);
    rows.sort((a, b) => b[1] - a[1]);
    out.replaceChildren(rows.length ? bars(rows.slice(0, MOST), ["dimension", "value", ""]) : make("p", "It has nothing of any dimension."));
  };

  /* log odds of the pair against the two others, divided along the path t from 0 to 1 (midpoints) */
  const divided = (own, other) => {
    const sum = (v) => v.reduce((a, b) => a + b, 0), totals = other.map(sum);
    const share = other.map(() => 0);
    for (let step = 0; step < STEPS; step += 1) {
      const t = (step + 0.5) / STEPS, top = Math.max(...totals.map((s) => t * s));
      const weight = totals.map((s) => Math.exp(t * s - top)), all = sum(weight);
      weight.forEach((w, k) => { share[k] += w / all / STEPS; });
    }
    return own.map((v, k) => v - other.reduce((a, one, j) => a + share[j] * one[k], 0));
  };

  const why = () => {
    const names = ["first", "second", "odd"].map((id) => field(id).value.trim()), out = field("reasons");
    const [a, b, c] = names.map(values);
    if (!a || !b || !c || new Set(names).size < 3) return out.replaceChildren(make("p", "Choose three different items of this model."));
    const times = (x, y) => x.map((v, k) => v * y[k]), dot = (v) => v.reduce((s, x) => s + x, 0);
    const pairs = [times(a, b), times(a, c), times(b, c)], size = pairs.map(dot), top = Math.max(...size);
    const chance = Math.exp(size[0] - top) / size.reduce((s, v) => s + Math.exp(v - top), 0);
    const parts = divided(pairs[0], pairs.slice(1)), speaks = parts.reduce((s, v) => s + Math.max(v, 0), 0);
    const rows = parts.map((v, k) => [data.labels[k], v, `${speaks > 0 ? Math.round((100 * v) / speaks) : 0}%`]);
    rows.sort((x, y) => Math.abs(y[1]) - Math.abs(x[1]));
    const said = `“${names[0]} and ${names[1]} belong together, ${names[2]} is the odd one”: ${Math.round(100 * chance)}% of people would say so, according to the model (33% by chance). Of what speaks for it:`;
    out.replaceChildren(make("p", said), bars(rows.filter((r) => Math.abs(r[1]) > 1e-6).slice(0, MOST), ["dimension", "share", ""]));
  };

  field("profile").hidden = false;
  field("item").addEventListener("input", profile);
  profile();
  if (field("first")) {
    field("first").closest(".ask").hidden = false;
    ["first", "second", "odd"].forEach((id) => field(id).addEventListener("input", why));
    why();
  }
})();
