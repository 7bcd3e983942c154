// The parts of a rater's round, each with its block, its practice questions and its length: where a number stands among them.

/** The part that a number belongs to: its place among the parts, from 0, the number that it starts with, and those before it. */
export function partOf(plan, number) {
  let start = 0;
  let own = 0;
  let index = 0;
  while (index < plan.length - 1 && number >= start + plan[index].length) {
    start += plan[index].length;
    own += plan[index].length - plan[index].practice;
    index += 1;
  }
  return { ...plan[index], index, start, own, count: plan.length };
}

/** Questions of practice in all. */
export function practiceOf(plan) {
  return plan.reduce((sum, part) => sum + part.practice, 0);
}

/** How many of the study's own questions are among the first that were answered. */
export function ownAnswered(plan, answered) {
  if (answered < 1) return 0;
  const part = partOf(plan, answered - 1);
  return part.own + Math.max(answered - part.start - part.practice, 0);
}
