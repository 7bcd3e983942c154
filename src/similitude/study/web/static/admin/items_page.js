// The items of a study: what is there, and more by dropping or choosing files.

import { make } from "../dom.js";
import { at, problem, send, sendFiles, showTaken, showToDo, told } from "./desk.js";
import { thumbnail } from "./thumbnails.js";

const AT_FIRST = 120;
let now = told, most = AT_FIRST;
const number = new Intl.NumberFormat("en");

function show(found) {
  now = found;
  showToDo(now.to_do);
  problem(now.wrong);
  draw();
}

function draw() {
  const wanted = at("find").value.trim().toLowerCase();
  const found = now.items.filter((item) => item.name.toLowerCase().includes(wanted));
  at("number").textContent = found.length === now.items.length ? `${number.format(now.items.length)} items`
    : `${number.format(found.length)} of ${number.format(now.items.length)} items`;
  at("items").replaceChildren(...found.slice(0, most).map(card));
  at("more").hidden = found.length <= most;
}

function card(item) {
  const rename = make("button", { type: "button", class: "quiet small-button", "aria-label": `Rename ${item.name}` }, "Rename");
  const remove = make("button", { type: "button", class: "quiet small-button", "aria-label": `Take out ${item.name}` }, "Take out");
  rename.addEventListener("click", () => askName(item));
  remove.addEventListener("click", () => change({ do: "remove", name: item.name }));
  const wrong = item.fault ? make("span", { class: "wrong" }, item.fault) : null;
  return make("li", {}, thumbnail(item), wrong, make("span", { class: "row-buttons" }, rename, remove));
}

function askName(item) {
  const input = make("input", { type: "text", id: "new-name", value: item.name, spellcheck: "false" });
  const form = make("form", { method: "dialog" }, make("label", { for: "new-name" }, `A new name for ${item.name}`), input,
    make("p", { class: "row-buttons" }, make("button", { value: "go" }, "Rename"), make("button", { value: "", class: "quiet", formnovalidate: true }, "Cancel")));
  const dialog = make("dialog", { "aria-label": `Rename ${item.name}` }, form);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (dialog.returnValue === "go" && input.value !== item.name) change({ do: "rename", name: item.name, to: input.value });
  });
  document.body.append(dialog);
  dialog.showModal();
  input.select();
}

/** Ask the server; what should be done only by who is sure is asked back. */
async function change(wanted) {
  const { status, found } = await send("/items", wanted);
  if (status === 200) return show(found);
  if (found.code === "sure" && window.confirm(`${found.detail}\n\nDo it all the same?`)) return change({ ...wanted, sure: true });
  if (found.code !== "sure") problem(found.detail);
}

let busy = false;

async function add(files) {
  if (!files.length || busy) return;
  busy = true;
  problem(null);
  at("went").textContent = "";
  at("refused").replaceChildren();
  at("sending").hidden = false;
  try {
    const sent = await sendFiles(files, (share) => (at("progress").value = share));
    const { status, found } = await send("/items", { do: "add", files: sent, replace: at("replace").checked });
    if (status !== 200) throw new Error(found.detail);
    show(found);
    showTaken(found.taken);
  } catch (error) {
    problem(error.message);
  }
  busy = false;
  at("sending").hidden = true;
  at("choose").value = "";
}

at("choose").addEventListener("change", () => add([...at("choose").files]));
at("find").addEventListener("input", draw);
at("more").addEventListener("click", () => { most *= 4; draw(); });
const drop = at("drop");
for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => { event.preventDefault(); add([...event.dataTransfer.files]); });
show(told);
