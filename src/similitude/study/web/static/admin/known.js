// A question with a known answer: its items are chosen by pressing them in order, then it is answered in the rater's own
// page, and what was answered is what is expected.

import { make } from "../dom.js";

/** Resolves to the question, or to null where nobody wants it after all. */
export function makeQuestion(context) {
  return new Promise((resolve) => {
    const chosen = [];
    const words = make("p", { role: "status" });
    const gallery = make("ul", { class: "gallery" });
    const go = make("button", { type: "button", disabled: true }, "Answer it");
    const cancel = make("button", { type: "button", class: "quiet" }, "Cancel");
    const body = make("div", {}, gallery);
    const dialog = make("dialog", { class: "known-dialog", "aria-label": "A question with a known answer" },
      make("h2", {}, "A question with a known answer"), words, body, make("p", { class: "row-buttons" }, go, cancel));
    const tell = () => {
      words.textContent = `Press ${context.shows} items in the order of the form: ${chosen.length} of ${context.shows} chosen.`;
      go.disabled = chosen.length !== context.shows;
    };
    gallery.append(...context.items.map((item) => {
      const badge = make("kbd", { "aria-hidden": "true" });
      const press = make("button", { type: "button", "aria-pressed": "false" }, context.thumbnail(item.name), badge);
      press.addEventListener("click", () => {
        const at = chosen.indexOf(item.name);
        if (at >= 0) chosen.splice(at, 1);
        else if (chosen.length < context.shows) chosen.push(item.name);
        for (const [one, name] of marks) {
          const place = chosen.indexOf(name);
          one.parentElement.setAttribute("aria-pressed", String(place >= 0));
          one.textContent = place >= 0 ? String(place + 1) : "";
        }
        tell();
      });
      return make("li", {}, press);
    }));
    const marks = context.items.map((item, k) => [gallery.children[k].querySelector("kbd"), item.name]);

    const end = (value) => {
      window.removeEventListener("message", heard);
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const heard = (event) => {
      if (event.origin !== window.location.origin || event.data?.similitude !== "answer") return;
      if (event.data.response) end({ shown: [...chosen], correct: event.data.response });
    };
    go.addEventListener("click", () => {
      words.textContent = "Answer it as it should be answered.";
      go.remove();
      body.replaceChildren(make("iframe", { name: "known", title: "The question", class: "asked" }));
      window.addEventListener("message", heard);
      context.preview("known", { stage: "question", shown: JSON.stringify(chosen) });
    });
    cancel.addEventListener("click", () => end(null));
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); end(null); });
    document.body.append(dialog);
    dialog.showModal();
    tell();
  });
}
