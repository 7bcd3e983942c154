// What this page tells of how an answer was given: kind of device, window, what was used, whether the page was left.
// Nothing of it is sent before an answer is, and nothing at all where the study does not record it.

const FRAMES = 60; // over which the refresh rate is taken
const SMALL = 600; // pixels of the shorter side of a screen: less is a phone

export class Measures {
  constructor(on, memory) {
    Object.assign(this, { on, memory, rate: null, input: null, lost: 0, away: 0, since: null });
    if (!on) return;
    refreshRate().then((rate) => (this.rate = rate));
    document.addEventListener("pointerdown", (event) => (this.input = event.pointerType || null), true);
    document.addEventListener("keydown", () => (this.input = "keyboard"), true);
    for (const name of ["blur", "focus"]) window.addEventListener(name, () => this.look());
    document.addEventListener("visibilitychange", () => this.look());
  }

  /** A question is on the screen. */
  begin({ number }) {
    Object.assign(this, { input: null, lost: 0, away: 0, since: null, showings: Number(this.memory.get(`shown/${number}`) ?? 0) + 1 });
    if (this.on) this.memory.set(`shown/${number}`, String(this.showings));
    this.look();
  }

  /** Whether somebody has left the page, or come back. */
  look() {
    const isAway = document.hidden || !document.hasFocus();
    const now = performance.now();
    if (isAway && this.since === null) {
      this.lost += 1;
      this.since = now;
    } else if (!isAway && this.since !== null) {
      this.away += now - this.since;
      this.since = null;
    }
  }

  /** What is told with the answer to a question; nothing where nothing is recorded. */
  end({ number }, exposed) {
    if (!this.on) return {};
    this.memory.remove(`shown/${number}`);
    const away = this.away + (this.since === null ? 0 : performance.now() - this.since);
    const measured = {
      device: device(), viewport: [window.innerWidth, window.innerHeight].map((length) => Math.max(1, Math.round(length))),
      pixel_ratio: Math.round(100 * window.devicePixelRatio) / 100, focus_lost: this.lost, focus_lost_ms: Math.round(away),
      showings: this.showings,
      ...(["mouse", "touch", "pen", "keyboard"].includes(this.input) ? { input: this.input } : {}),
      ...(this.rate === null ? {} : { refresh_rate: this.rate }),
      ...(exposed === null ? {} : { exposure_ms: exposed }),
    };
    return { measured };
  }
}

function device() {
  if (!matchMedia("(pointer: coarse)").matches) return "computer";
  return Math.min(screen.width, screen.height) < SMALL ? "phone" : "tablet";
}

/** Frames a second, by the median of some; a page in the background has none, and is waited for. */
function refreshRate() {
  const times = [];
  return new Promise((resolve) => {
    const frame = (at) => {
      times.push(at);
      if (times.length <= FRAMES) return void requestAnimationFrame(frame);
      const gaps = times.slice(1).map((time, k) => time - times[k]).sort((a, b) => a - b);
      const typical = gaps[gaps.length >> 1];
      resolve(typical > 0 ? Math.round(10_000 / typical) / 10 : null);
    };
    requestAnimationFrame(frame);
  });
}
