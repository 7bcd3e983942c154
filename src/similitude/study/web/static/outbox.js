// Answers on their way: kept in this browser until the server says that they are stored, and sent in order.
// Each has an id of its own, so that sending it twice is answering once.

import { Refusal } from "./server.js";

export class Outbox {
  /** `stored(held)` gets what the server says after each answer, `refused(refusal)` an answer that it does not take. */
  constructor(server, memory, { stored, refused }) {
    Object.assign(this, { server, memory, stored, refused });
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
    this.memory.set(place(answer), JSON.stringify(answer));
    this.waiting.push(answer);
    this.send();
  }

  /** Send what waits; resolves when nothing does. */
  async send() {
    if (this.sending) return;
    this.sending = true;
    while (this.waiting.length) {
      const answer = this.waiting[0];
      try {
        const held = await this.server.ask("POST", "answers", answer);
        this.drop(answer);
        this.stored(held);
      } catch (error) {
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
    this.waiting = this.waiting.filter((other) => other.uid !== answer.uid);
  }
}

function place(answer) {
  return `answer/${String(answer.number).padStart(7, "0")}-${answer.uid}`;
}
