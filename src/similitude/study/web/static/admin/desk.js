// What the pages that edit a study share: what they were told, sending, what is wrong, files in pieces.

import { freshId, make } from "../dom.js";

export const told = JSON.parse(document.getElementById("told").textContent);
export const at = (id) => document.getElementById(id);
const base = `${told.root}/admin/${told.study}/design`;
const AT_ONCE = 3; // files that are sent side by side
const TRIES = 5;

/** Send JSON; `status` is 0 where the server does not answer. A token that is too old is asked for anew, once. */
export async function send(path, body, again = true) {
  const reply = await fetch(base + path, {
    method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ csrf: told.csrf, ...body }),
  }).catch(() => null);
  const found = await reply?.json().catch(() => ({})) ?? {};
  if (found.code === "csrf" && again && (await renew())) return send(path, body, false);
  return { status: reply?.status ?? 0, found: { ...found, detail: sentence(reply, found) } };
}

function sentence(reply, found) {
  if (!reply) return "The server does not answer. Nothing was saved; try again.";
  if (reply.status === 401) return "You are logged out. Log in in another tab and save again: nothing of this page is lost.";
  if (reply.status === 413) return "This is more than the server takes at once.";
  return typeof found.detail === "string" ? found.detail : "That did not work; the server's log says why.";
}

async function renew() {
  const reply = await fetch(`${base}/now`, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!reply?.ok) return false;
  told.csrf = (await reply.json()).csrf;
  return true;
}

/** Where a key is edited, from whichever page of the design. */
const placeOf = (key) => `${base}#key-${key.split(".").slice(0, 2).join(".")}`;

/** Say above everything how many things are wrong, each with a link to its place: `faults` have `words` and `go()`. */
export function problems(faults) {
  const link = ({ words, go }) => {
    const one = make("a", { href: "#problem" }, words);
    one.addEventListener("click", (event) => { event.preventDefault(); go(); });
    return one;
  };
  const said = faults.length === 1 ? "Nothing was saved: this is to be mended first." : `Nothing was saved: ${faults.length} things are to be mended first.`;
  const list = make("ul", {}, ...faults.map((one) => make("li", {}, one.go ? link(one) : one.words, one.sentence ? `: ${one.sentence}` : "")));
  at("problem").replaceChildren(make("b", {}, said), list);
  at("problem").hidden = !faults.length;
}

/** Say what is wrong above everything, or nothing. */
export function problem(text) {
  at("problem").textContent = text ?? "";
  at("problem").hidden = !text;
  if (text) at("problem").focus();
}

/** What is still to be seen to before people are let in. */
export function showToDo(faults) {
  const named = ({ key, page, words }) => {
    if (page) return [make("a", { href: `${base}/${page}` }, words), ": "];
    return key ? [make("a", { href: placeOf(key) }, make("code", {}, key)), ": "] : [];
  };
  const list = make("ul", {}, ...faults.map((one) => make("li", {}, ...named(one), ...withCode(one.sentence))));
  at("to-do").replaceChildren(make("b", {}, "Before people are let in"), list);
  at("to-do").hidden = !faults.length;
}

/** A sentence, with what stands in backticks as code. */
export function withCode(text) {
  return text.split("`").map((part, k) => (k % 2 ? make("code", {}, part) : part)).filter((part) => part !== "");
}

/** Who leaves with changes that are not saved is asked. */
export function guard(hasChanges) {
  window.addEventListener("beforeunload", (event) => hasChanges() && event.preventDefault());
}

/** The bar at the bottom: how many changes there are, and buttons. */
export function bar(save, undo) {
  at("save").addEventListener("click", save);
  at("undo").addEventListener("click", undo);
  return (number, words) => {
    at("save").disabled = at("undo").disabled = !number;
    at("count").textContent = words ?? (number ? `${number} ${number === 1 ? "change is" : "changes are"} not saved` : "");
  };
}

/** Send files in pieces, some side by side; resolves to their ids and names. `tell(share)` is told how far it is. */
export async function sendFiles(files, tell) {
  const total = files.reduce((sum, file) => sum + file.size, 0) || 1;
  const sent = new Map(), found = [], waiting = [...files];
  const progress = (file, size) => {
    sent.set(file, size);
    tell([...sent.values()].reduce((a, b) => a + b, 0) / total);
  };
  const worker = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const uid = freshId();
      await sendFile(file, uid, (size) => progress(file, size));
      found.push({ uid, name: file.name });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

async function sendFile(file, uid, tell) {
  const address = `${base}/upload/${uid}`;
  for (let size = 0, tries = 0; size < file.size || (file.size === 0 && tries === 0); ) {
    const reply = await fetch(`${address}?at=${size}`, {
      method: "POST", headers: { "X-CSRF": told.csrf, Accept: "application/json" }, body: file.slice(size, size + told.piece),
    }).catch(() => null);
    const body = await reply?.json().catch(() => ({})) ?? {};
    if (reply?.ok) {
      [size, tries] = [body.size, file.size === 0 ? 1 : 0];
      tell(size);
      continue;
    }
    if (body.code === "csrf" && (await renew()) && ++tries < TRIES) continue;
    if ((reply && reply.status !== 409 && reply.status < 500) || ++tries >= TRIES) throw new Error(sentence(reply, body));
    await new Promise((resolve) => setTimeout(resolve, 500 * tries));
    const far = await fetch(address, { headers: { Accept: "application/json" } }).then((one) => one.json()).catch(() => ({ size }));
    size = far.size ?? size;
  }
}

/** What became of files that were sent, in words and with the reasons. */
export function showTaken(taken) {
  const parts = [[taken.added, "added"], [taken.replaced, "replaced"], [taken.refused, "not taken"]].filter(([list]) => list.length);
  at("went").textContent = parts.map(([list, word]) => `${list.length} ${word}`).join(", ") || "Nothing came.";
  at("refused").replaceChildren(...taken.refused.map(([name, why]) => make("li", {}, make("b", {}, name), `: ${why}`)));
}
