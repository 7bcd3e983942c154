// Times of one question: items that are hidden after a while, an answer that waits for one, a question that ends.

import { fill, make, seconds } from "./dom.js";

const LOOK = 250; // milliseconds between two looks at the clock
const WARNED = 0.25; // of its time, or five seconds: what is left is then said aloud

export class Times {
  /** `exposed` is for how many milliseconds the items were to be seen; null as long as they are. */
  constructor({ timing, texts, measures }, stage) {
    Object.assign(this, { timing, texts, measures, stage, exposed: null });
    this.bar = make("div", {});
    this.words = make("span", {});
    this.element = make("div", { class: "clock", "aria-hidden": "true", hidden: !timing.limit }, make("div", { class: "left" }, this.bar), this.words);
  }

  /** The items appear with the next frame, and are hidden so many milliseconds later, to the frame. */
  appear(views, over) {
    if (!this.timing.exposure) return;
    const half = 500 / (this.measures.rate ?? 60);
    let first = null;
    const frame = (at) => {
      if (over.aborted) return;
      first ??= at;
      if (at - first < this.timing.exposure - half) return void requestAnimationFrame(frame);
      this.exposed = Math.round(at - first);
      hide(this.stage, views, this.texts.hidden_item, over);
    };
    requestAnimationFrame(frame);
  }

  /** Resolves when an answer may be taken. */
  async least(since) {
    const left = this.timing.least - (performance.now() - since) / 1000;
    if (left > 0) await seconds(left);
  }

  /** Call `finish` when the time is over that began at `since`; a bar shows what is left. */
  limit(since, over, finish) {
    const limit = this.timing.limit;
    if (!limit) return;
    let said = limit <= 5;
    const show = () => {
      const left = Math.max(0, limit - (performance.now() - since) / 1000);
      this.bar.style.width = `${(100 * (isStill() ? Math.ceil(left) : left)) / limit}%`;
      this.words.textContent = fill(this.texts.time_left, { seconds: Math.ceil(left) });
      if (!said && left <= Math.max(5, WARNED * limit)) {
        said = true;
        document.getElementById("spoken").textContent = this.words.textContent;
      }
    };
    const looks = setInterval(show, LOOK);
    const end = setTimeout(finish, 1000 * limit - (performance.now() - since));
    over.addEventListener("abort", () => { clearInterval(looks); clearTimeout(end); });
    show();
  }
}

function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Hide the items from who sees and from who hears; what answers stays. */
function hide(stage, views, word, over) {
  const labels = views.map((view) => view.label).sort((one, other) => other.length - one.length);
  const rename = () => {
    for (const named of stage.querySelectorAll("[aria-label]")) {
      const label = labels.reduce((text, name) => text.replace(name, word), named.ariaLabel);
      if (label !== named.ariaLabel) named.setAttribute("aria-label", label);
    }
  };
  document.querySelector("dialog")?.close();
  stage.classList.add("unseen");
  rename();
  const renamed = new MutationObserver(rename); // some forms say anew what a card is when it is picked
  renamed.observe(stage, { attributeFilter: ["aria-label"], subtree: true });
  over.addEventListener("abort", () => renamed.disconnect());
}
