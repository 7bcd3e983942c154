// The conditions and blocks of a study: how many people and answers each has, and how many it shall have.
"use strict";

/** A table of figures; `rows` are lists of cells, of which the first is a name. */
function figuresTable(head, rows) {
  const table = document.createElement("table");
  const names = table.createTHead().insertRow();
  head.forEach((word, k) => {
    const one = document.createElement("th");
    one.textContent = word;
    if (k) one.className = "n";
    names.append(one);
  });
  const body = table.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    cells.forEach((text, k) => {
      const one = row.insertCell();
      one.textContent = text;
      if (k) one.className = "n";
    });
  }
  return table;
}

function showConditions({ conditions, blocks }) {
  const format = new Intl.NumberFormat("en");
  const card = document.getElementById("conditions");
  card.hidden = !conditions.length && !blocks.length;
  const parts = [];
  if (conditions.length) {
    parts.push(figuresTable(["Condition", "Places taken", "Raters", "Finished", "Answers"], conditions.map((one) => [
      one.name, one.places === null ? "–" : one.quota === null ? format.format(one.places) : `${format.format(one.places)} of ${format.format(one.quota)}`,
      format.format(one.raters), format.format(one.finished), format.format(one.answers),
    ])));
  }
  if (blocks.length) parts.push(figuresTable(["Block", "Answers"], blocks.map((one) => [one.name, format.format(one.answers)])));
  document.getElementById("conditions-figures").replaceChildren(...parts);
}
