// A plugin for jsPsych 7 and 8: a timeline of your own with the questions of a similitude study, chosen as answers come.
//
//   const study = new jsPsychSimilitude.Study("https://study.example/s/faces/");
//   const questions = { timeline: [{ type: jsPsychSimilitude, study }], loop_function: () => !study.done };
//   const end = { type: jsPsychCallFunction, async: true, func: done => study.finish().then(done) };
//   jsPsych.run([yourConsent, questions, end]);
//
// The study names the address of your page under `raters.origins`. Say `display` to show questions in your own way. A study
// with times (`study.about.timing`) is asked where your display keeps them: `new jsPsychSimilitude.Study(url, { keepsTimes: true })`.

var jsPsychSimilitude = (function (jspsych) {
  const wait = ms => new Promise(pass => setTimeout(pass, ms));

  /** A study, as one rater sees it; the parts of the page's own link say who comes, unless `parameters` do. */
  class Study {
    constructor(url, { parameters, uid, keepsTimes = false } = {}) {
      const found = /^(https?:\/\/.+?)\/s\/([^/?#]+)/.exec(url);
      if (!found) throw new Error(`url: expected a link such as https://study.example/s/faces/, found ${url}`);
      [, this.root, this.name] = found;
      this.parameters = parameters ?? Object.fromEntries([...new URLSearchParams(globalThis.location?.search ?? "")].slice(0, 20));
      Object.assign(this, { uid: uid ?? crypto.randomUUID(), keepsTimes, done: false });
    }

    /** Join, say that the person has agreed, and get the first questions. */
    async begin() {
      this.about = await this.ask("GET", "about");
      const times = Object.entries(this.about.timing ?? {}).filter(([key, value]) => value && key !== "record_device");
      const asked = times.map(([key, value]) => `${key} = ${value}`).join(", ");
      if (asked && !this.keepsTimes) throw new Error(`timing: this study asks for ${asked}, which a display must keep; let yours do so, and say keepsTimes: true`);
      ({ token: this.token } = await this.ask("POST", "join", { uid: this.uid, parameters: this.parameters }));
      await this.ask("POST", "consent");
      this.take(await this.ask("POST", "ask", {}));
    }

    /** The question to answer next; null where there is none. */
    async next() {
      if (!this.token) await this.begin();
      return this.questions[0] ?? null;
    }

    /** Keep an answer; it is durable when this resolves. */
    async tell(question, said) {
      const uid = crypto.randomUUID();
      this.take(await this.ask("POST", "tell", { number: question.number, uid, ...said }));
    }

    /** Keep the replies to the study's survey; resolves to the completion code and the address to go to. */
    finish(replies = {}) { return this.ask("POST", "finish", { replies }); }

    /** Where the file of an item is. */
    fileOf(item) { return item.address && this.root + item.address; }

    take({ questions, answered }) { Object.assign(this, { questions, answered, done: questions.length === 0 }); }

    /** One request, sent again while the network or the server is away; an Error where it was refused. */
    async ask(method, path, body) {
      const headers = { "Content-Type": "application/json" };
      if (this.token) headers.Authorization = `Bearer ${this.token}`;
      for (let pause = 500; ; pause = Math.min(2 * pause, 15000)) {
        try {
          const reply = await fetch(`${this.root}/api/${this.name}/v1/${path}`,
            { method, headers, body: body && JSON.stringify(body) });
          if (reply.ok) return await reply.json();
          if (reply.status !== 503) throw Object.assign(new Error((await reply.json()).detail), { refused: true });
        } catch (error) {
          if (error.refused) throw error;
        }
        await wait(pause);
      }
    }
  }

  /** An item as an element. */
  function shown(study, item) {
    const kinds = { image: "img", audio: "audio", video: "video" };
    const element = document.createElement(kinds[item.kind] ?? "div");
    element.className = "similitude-item";
    if (kinds[item.kind]) Object.assign(element, { src: study.fileOf(item), controls: true, alt: item.content });
    else if (item.kind === "colour") element.style.cssText = `background:${item.content};width:8em;height:8em`;
    else element.textContent = item.content;
    return element;
  }

  function button(content, onclick) {
    const element = Object.assign(document.createElement("button"), { className: "jspsych-btn", onclick });
    element.append(content);
    return element;
  }

  /** What can be pressed: places of items that are answers by themselves, or words with what they say. */
  const PLACES = { triplet: [1, 2], odd_one_out: [0, 1, 2] };
  const WORDS = {
    quadruplet: () => [["the left pair", [0]], ["the right pair", [1]]],
    same_different: () => [["same", [1]], ["different", [0]]],
    similarity_rating: about => Array.from({ length: about.scale }, (_, k) => [String(k + 1), [k + 1]]),
    labelling: about => about.classes.map((name, k) => [name, [k, 1]]),
  };

  /** A plain display: items in a row, those that can be chosen are buttons. */
  function plain(element, question, respond, { study, prompt }) {
    const about = study.about.blocks?.[question.block] ?? study.about;
    const { form, cant_tell: cantTell, skip } = about;
    if (!PLACES[form] && !WORDS[form]) throw new Error(`${form}: say \`display\` to show questions of this form`);
    const row = document.createElement("div");
    question.shown.forEach((item, place) => {
      const seen = shown(study, item);
      row.append(PLACES[form]?.includes(place) ? button(seen, () => respond([place])) : seen);
    });
    element.append(prompt, row);
    for (const [word, said] of WORDS[form]?.(about) ?? []) element.append(button(word, () => respond(said)));
    if (cantTell) element.append(button("I can't tell", () => respond(null, "cant_tell")));
    if (skip) element.append(button("Skip", () => respond(null, "skipped")));
  }

  class Plugin {
    constructor(jsPsych) { this.jsPsych = jsPsych; }

    trial(element, trial) {
      this.show(element, trial).catch(error => {
        element.textContent = error.message;
        (this.jsPsych.abortExperiment ?? this.jsPsych.endExperiment).call(this.jsPsych, error.message);
      });
    }

    async show(element, trial) {
      const question = await trial.study.next();
      if (!question) return this.jsPsych.finishTrial({ number: null });
      const begin = performance.now();
      const said = await new Promise(respond => {
        const display = trial.display ?? plain;
        display(element, question, (response, outcome = "answered") => respond({ response, outcome }), trial);
      });
      const milliseconds = Math.round(performance.now() - begin);
      await trial.study.tell(question, { ...said, milliseconds });
      element.replaceChildren();
      const items = question.shown.map(item => item.name);
      this.jsPsych.finishTrial({ number: question.number, kind: question.kind, items, ...said, rt: milliseconds });
    }
  }
  const { OBJECT, FUNCTION, HTML_STRING, INT, STRING, COMPLEX } = jspsych.ParameterType;
  Plugin.info = {
    name: "similitude", version: "1.0.0",
    parameters: { study: { type: OBJECT }, display: { type: FUNCTION, default: null }, prompt: { type: HTML_STRING, default: "" } },
    data: { number: { type: INT }, kind: { type: STRING }, items: { type: STRING, array: true }, rt: { type: INT },
      response: { type: COMPLEX }, outcome: { type: STRING } },
  };
  Plugin.Study = Study;
  return Plugin;
})(jsPsychModule);
