// study.toml as text.

import { at, bar, guard, problem, send, showToDo, told } from "./desk.js";

let now = told;
const area = at("toml");
const isChanged = () => area.value !== now.text;
const count = bar(save, () => show(now));
guard(isChanged);
area.addEventListener("input", () => count(isChanged() ? 1 : 0));

function show(found) {
  now = found;
  area.value = now.text;
  at("theirs").hidden = true;
  showToDo(now.to_do);
  problem(null);
  count(0);
}

async function save() {
  const { status, found } = await send("", { basis: now.basis, text: area.value });
  if (status === 200) {
    show(found);
    count(0, "Saved");
  } else if (found.code === "out_of_date") {
    now = { ...found.now };
    at("theirs").hidden = false;
    at("theirs").querySelector("pre").textContent = now.text;
    problem(`${found.detail} Your text is still here, and the other below it: bring them together and save again.`);
  } else {
    problem(found.faults ? found.faults.map(({ key, sentence }) => (key ? `${key}: ${sentence}` : sentence)).join("\n") : found.detail);
  }
}

show(told);
