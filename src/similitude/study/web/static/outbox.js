// Answers on their way: kept in this browser until the server says that they are stored, and sent in order.
// Each has an id of its own, so that sending it twice is answering once.

import { Refusal } from "./server.js";

export class Outbox {
  /** `stored(held)` gets what the server says after each answer, `refused(refusal)` an answer that it does not take. */
  constructor(server, memory, { stored, refused }) {
    Object.assign(this, { server, memory, stored, refused });
    // What a reload, a crash or a dead battery left behind; the names sort by number, so the order is that of answering.
    this.waiting = memory.names("answer/").map((name) => JSON.parse(memory.get(name)));
    this.sending = false;
  }

  has(number) {
    return this.waiting.some((answer) => answer.number === number);
  }

  get size() {
    return this.waiting.length;
  }

  add(answer) {
    // Into the browser's memory first: from here on the answer survives the page, whatever becomes of the network.
    this.memory.set(place(answer), JSON.stringify(answer));
    this.waiting.push(answer);
    this.send();
  }

  /** Send what waits; resolves when nothing does. */
  async send() {
    // One loop at a time: two would send the same first answer twice, and the order would be that of the network.
    if (this.sending) return;
    this.sending = true;
    while (this.waiting.length) {
      const answer = this.waiting[0];
      try {
        const held = await this.server.ask("POST", "answers", answer);
        this.drop(answer);
        this.stored(held);
      } catch (error) {
        // `server.ask` itself tries again while the network or the database is away, so what arrives here is an answer
        // that will never be taken: kept, it would stop all that wait behind it.
        if (!(error instanceof Refusal)) throw error;
        this.drop(answer);
        await this.refused(error);
      }
    }
    this.sending = false;
  }

  /** Forget what waits: it is never taken. */
  empty() {
    for (const answer of this.waiting) this.drop(answer);
  }

  drop(answer) {
    this.memory.remove(place(answer));
    // By its id, not by its place: more may have been answered, or all forgotten, while it was on its way.
    this.waiting = this.waiting.filter((other) => other.uid !== answer.uid);
  }
}

function place(answer) {
  return `answer/${String(answer.number).padStart(7, "0")}-${answer.uid}`;
}
