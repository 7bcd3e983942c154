// Single keys that answer. Whoever speaks to the computer, or rests a hand on the keys, can switch them off; this
// browser remembers it. Arrows, Enter and Escape are no characters and stay.

import { make } from "./dom.js";

export class Shortcuts {
  constructor(memory) {
    this.memory = memory;
    this.show();
  }

  get on() {
    return this.memory.get("shortcuts") !== "off";
  }

  takes(event) {
    return this.on || event.key.length > 1;
  }

  /** A box to switch them on and off, with what the keys do. */
  control(help, texts) {
    const box = make("input", { type: "checkbox" });
    box.checked = this.on;
    box.addEventListener("change", () => {
      this.memory.set("shortcuts", box.checked ? "on" : "off");
      this.show();
    });
    return make("div", { class: "keys" }, make("label", { dir: "auto" }, box, texts.shortcuts), make("span", { class: "help", dir: "auto" }, help));
  }

  show() {
    document.documentElement.classList.toggle("no-shortcuts", !this.on);
  }
}
