// A whole experiment in jsPsych, in a page without a screen: node jspsych.cjs PLUGIN LINK TRUTH RATER...
// Raters click what lies nearer to the first item; "display" of their own on every second rater.

const fs = require("fs");
const { JSDOM } = require("jsdom");
const [plugin, link, truth, ...raters] = process.argv.slice(2);
const place = JSON.parse(fs.readFileSync(truth, "utf8"));

const far = (one, other) => place[one].reduce((sum, x, k) => sum + (x - place[other][k]) ** 2, 0);
const nearer = ([head, first, second]) => (far(head, first) < far(head, second) ? 1 : 2);

/** A page with jsPsych and the plugin, as script tags would bring them. */
function newPage(rater) {
  const { window } = new JSDOM("<!doctype html><body></body>",
    { url: `https://lab.example/?rater=${rater}`, runScripts: "outside-only", pretendToBeVisual: true });
  window.fetch = fetch;
  window.crypto.randomUUID ??= () => crypto.randomUUID();
  window.eval(fs.readFileSync(`${process.env.NODE_PATH}/jspsych/dist/index.browser.js`, "utf8"));
  window.eval(`${fs.readFileSync(plugin, "utf8")}; window.jsPsychSimilitude = jsPsychSimilitude;`);
  return window;
}

/** Our own display: the first item, and two buttons. */
function display(element, question, respond) {
  const names = question.shown.map(item => item.name);
  element.innerHTML = `<p>${names[0]}</p><button class="mine">${names[1]}</button><button class="mine">${names[2]}</button>`;
  element.querySelectorAll(".mine").forEach((button, k) => button.addEventListener("click", () => respond([k + 1])));
  element.querySelectorAll(".mine")[nearer(names) - 1].click();
}

/** Click in the plain display whenever a question is there. */
function clicking(window, study) {
  const observer = new window.MutationObserver(() => {
    const buttons = window.document.querySelectorAll("button .similitude-item");
    if (buttons.length !== 2 || !study.questions[0]) return;
    buttons[nearer(study.questions[0].shown.map(item => item.name)) - 1].parentElement.click();
  });
  observer.observe(window.document.body, { childList: true, subtree: true });
}

async function experiment(rater, own) {
  const window = newPage(rater);
  const study = new window.jsPsychSimilitude.Study(link);
  const jsPsych = window.initJsPsych({});
  if (!own) clicking(window, study);
  const trial = { type: window.jsPsychSimilitude, study, ...(own ? { display } : {}) };
  await jsPsych.run([{ timeline: [trial], loop_function: () => !study.done }]);
  const data = jsPsych.data.get().values();
  const way = await study.finish();
  return { rater, trials: data.length, answered: data.filter(row => row.outcome === "answered").length, code: way.code };
}

(async () => {
  const told = [];
  for (const [k, rater] of raters.entries()) told.push(await experiment(rater, k % 2 === 1));
  console.log(JSON.stringify(told));
  process.exit(0);
})();
