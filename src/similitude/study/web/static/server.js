// Talking to the server: what it refuses is a Refusal; what did not get through is tried again, patiently.

import { seconds } from "./dom.js";

const LONGEST_WAIT = 15;
const TIME_LIMIT = 30_000;

/** The server understood and said no. */
export class Refusal extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The request did not get through, or the server cannot serve it now. */
class Trouble extends Error {
  constructor(reached) {
    super("no answer");
    this.reached = reached;
  }
}

export class Server {
  /** `trouble(reached)` is told when something has to be tried again, `clear()` when it got through after all. */
  constructor(study, { trouble, clear }) {
    this.base = new URL(`../../api/${study}/`, window.location.href);
    this.token = null;
    this.trouble = trouble;
    this.clear = clear;
  }

  /** The address of an item's file; the server gives it from its own root. */
  fileAddress(address) {
    return new URL(`../../${address.replace(/^\//, "")}`, this.base).href;
  }

  /** Ask until an answer comes. */
  async ask(method, path, body, token = this.token) {
    for (let wait = 0.5; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        const found = await this.once(method, path, body, token);
        this.clear();
        return found;
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        this.trouble(error.reached);
        await Promise.race([seconds(wait), backOnline()]);
      }
    }
  }

  async once(method, path, body, token) {
    const headers = { Accept: "application/json" };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const signal = AbortSignal.timeout(TIME_LIMIT);
    let response;
    try {
      response = await fetch(new URL(path, this.base), {
        method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store",
      });
    } catch {
      throw new Trouble(false);
    }
    const found = await response.json().catch(() => null);
    if (response.ok && found !== null) return found;
    if (response.ok || response.status >= 500 || response.status === 429 || response.status === 408) {
      throw new Trouble(true);
    }
    throw new Refusal(response.status, found?.code ?? "", typeof found?.detail === "string" ? found.detail : "");
  }
}

function backOnline() {
  return new Promise((resolve) => window.addEventListener("online", resolve, { once: true }));
}
