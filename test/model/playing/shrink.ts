/** Finds the shortest history that still fails: leaves out steps, and then the content of steps. */
import type { History, RequestStep, Step } from "../histories/steps.ts";

/**
 * The greatest number of tries. A history that needs more tries to become shorter is already short enough to read.
 */
const ATTEMPTS_MAX = 400;

export async function shrink(history: History, fails: (history: History) => Promise<boolean>): Promise<History> {
  let best = history;
  let attempts = 0;
  const tryOut = async (steps: readonly Step[]): Promise<boolean> => {
    if (attempts++ >= ATTEMPTS_MAX || !(await fails({ ...best, steps }))) return false;
    best = { ...best, steps };
    return true;
  };
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = best.steps.length - size; from > -size; from -= size) {
      await tryOut([...best.steps.slice(0, Math.max(0, from)), ...best.steps.slice(from + size)]);
    }
  }
  for (let place = 0; place < best.steps.length; place++) {
    for (const simpler of simplerSteps(best.steps[place] as Step)) await tryOut(best.steps.with(place, simpler));
  }
  return best;
}

/** Variants of the step with less content. */
function* simplerSteps(step: Step): Generator<Step> {
  if (step.kind !== "request") return;
  const { cursor, body, ...rest } = step;
  const withBody = body === undefined ? {} : { body };
  if (cursor !== undefined) yield { ...rest, ...withBody };
  if (body !== undefined) yield { ...rest, ...(cursor === undefined ? {} : { cursor }) };
  for (const name of Object.keys(step.query)) yield { ...step, query: without(step.query, name) };
  for (const name of Object.keys(body?.fields ?? {}))
    yield { ...step, body: { ...(body as NonNullable<RequestStep["body"]>), fields: without(body?.fields ?? {}, name) } };
  if (step.version !== "v26.0") yield { ...step, version: "v26.0" };
}

function without(record: Readonly<Record<string, unknown>>, left: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== left));
}
