// A server that there is not: the rater's page in a frame of the page that edits the study. It answers as the real one
// would to somebody at the stage that is looked at, and nothing of it is kept anywhere.

export class Preview {
  constructor({ preview, survey }) {
    leaveFocus();
    this.token = null;
    this.afterConsent = survey.some((field) => field.when === "before") ? "before" : "questions";
    this.stage = preview.stage;
    this.questions = preview.questions;
    this.answered = preview.answered;
    this.length = preview.length;
    this.wayOut = preview.wayOut;
  }

  fileAddress(address) {
    return address;
  }

  async ask(method, path, body) {
    const said = { me: () => this.me(), join: () => this.joined(), consent: () => this.at(this.afterConsent), before: () => this.at("questions"),
      questions: () => this.held(), answers: () => this.taken(body), survey: () => this.wayOut };
    return said[path]();
  }

  me() {
    return { stage: this.stage, rater: "preview", answered: this.answered, length: this.length, ...(this.stage === "done" ? this.wayOut : {}) };
  }

  joined() {
    return { ...this.me(), token: "preview" };
  }

  at(stage) {
    this.stage = stage;
    return this.me();
  }

  held() {
    const done = !this.questions.length;
    return { questions: this.questions, answered: this.answered, length: this.length, done, paused: false, first: 0 };
  }

  /** The page that edits the study may want to know the answer: it makes questions whose answer is known. */
  taken({ number, response }) {
    window.parent.postMessage({ similitude: "answer", response }, window.location.origin);
    this.questions = this.questions.filter((question) => question.number !== number);
    this.answered += 1;
    return this.held();
  }
}

/** Who types beside the frame keeps on typing: pages here take the focus only while it is in the frame already. */
function leaveFocus() {
  const { focus } = HTMLElement.prototype;
  HTMLElement.prototype.focus = function focusWithin(...given) {
    if (document.hasFocus()) focus.apply(this, given);
  };
}
