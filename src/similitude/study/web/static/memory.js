// What this browser remembers of a study, one rater of it at a time; where nothing may be stored, until the page is closed.

export class Memory {
  /** `remembers` are things known from the start, of a page that keeps nothing. */
  constructor(study, identity, remembers) {
    this.prefix = `similitude/${study}/${identity}/`;
    this.store = !remembers && usable() ? window.localStorage : new Fleeting();
    for (const [name, value] of Object.entries(remembers ?? {})) this.set(name, value);
  }

  /** Whether it is still there when the page is loaded again. */
  get lasts() {
    return !(this.store instanceof Fleeting);
  }

  get(name) {
    return this.store.getItem(this.prefix + name);
  }

  set(name, value) {
    try {
      this.store.setItem(this.prefix + name, value);
    } catch {
      // the browser's storage is full: the answer is still in the outbox of this page
    }
  }

  remove(name) {
    this.store.removeItem(this.prefix + name);
  }

  /** Names that begin so, in order. */
  names(beginning) {
    const start = this.prefix + beginning;
    const keys = Array.from({ length: this.store.length }, (_, k) => this.store.key(k));
    return keys.filter((key) => key.startsWith(start)).map((key) => key.slice(this.prefix.length)).sort();
  }

  /** What was begun of an answer, so that a reload does not lose it; of other items it is nothing. */
  draft(question) {
    const name = `draft/${question.number}`;
    const about = JSON.stringify(question.shown.map((item) => item.name));
    return {
      keep: (begun) => this.set(name, JSON.stringify({ about, begun })),
      read: () => {
        const kept = JSON.parse(this.get(name) ?? "null");
        return kept?.about === about ? kept.begun : null;
      },
      drop: () => this.remove(name),
    };
  }

  forget() {
    for (const name of this.names("")) this.remove(name);
  }
}

class Fleeting {
  constructor() {
    this.kept = new Map();
  }
  get length() {
    return this.kept.size;
  }
  key(k) {
    return [...this.kept.keys()][k];
  }
  getItem(key) {
    return this.kept.has(key) ? this.kept.get(key) : null;
  }
  setItem(key, value) {
    this.kept.set(key, value);
  }
  removeItem(key) {
    this.kept.delete(key);
  }
}

function usable() {
  try {
    window.localStorage.setItem("similitude", "");
    window.localStorage.removeItem("similitude");
    return true;
  } catch {
    return false;
  }
}
