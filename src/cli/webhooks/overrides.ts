/** `--override path=value`: an example with some of its values replaced, e.g. `message.text=hello` or `messages[0].id=7`. */
import { ConfigProblem } from "#config/config";

/** Deeper than any payload; the work of one override is bounded by it. */
const STEPS_MAX = 32;
/** A key, or the place in a list. */
const STEP = /^(?:([^.[\]]+)|\[(\d{1,6})\])/;

export type Override = { readonly path: string } & (
  | { readonly value: unknown }
  /** As it is written on a command line: what stands at its place in the example decides on its type. */
  | { readonly text: string }
);

const wrong = (path: string, problem: string): ConfigProblem => new ConfigProblem("--override", `"${path}" ${problem}`);

/** `path=value`. Throws `ConfigProblem`. */
export function overrideOf(given: string): Override {
  const at = given.indexOf("=");
  if (at < 1) throw wrong(given, "is not path=value, e.g. message.text=hello");
  return { path: given.slice(0, at), text: given.slice(at + 1) };
}

/** Throws `ConfigProblem`. */
export const withOverrides = (example: unknown, overrides: readonly Override[]): unknown =>
  overrides.reduce((value, override) => replaced(value, stepsOf(override.path), override), example);

type Steps = readonly (string | number)[];

function stepsOf(path: string): Steps {
  const steps: (string | number)[] = [];
  for (let rest = path; rest !== ""; ) {
    const match = STEP.exec(rest);
    if (match === null || steps.length === STEPS_MAX) throw wrong(path, "cannot be read as a path: write message.text or messages[0].id");
    const [step, key, index] = match;
    steps.push(key ?? Number(index));
    rest = rest.slice(step.length);
    if (rest.startsWith(".") && rest.length > 1) rest = rest.slice(1);
  }
  return steps;
}

function replaced(before: unknown, [step, ...rest]: Steps, override: Override): unknown {
  if (step === undefined) return "text" in override ? typed(override.text, before) : override.value;
  if (typeof step === "number") {
    const list = before ?? [];
    if (!Array.isArray(list)) throw wrong(override.path, `asks for element ${step} of what is no list`);
    if (step > list.length) throw wrong(override.path, `asks for element ${step} of a list of ${list.length}`);
    return list.toSpliced(step, 1, replaced(list[step], rest, override));
  }
  const map = before ?? {};
  if (typeof map !== "object" || Array.isArray(map)) throw wrong(override.path, `asks for ${step} of what is no object`);
  const inside = Object.hasOwn(map, step) ? (map as Record<string, unknown>)[step] : undefined;
  return { ...map, [step]: replaced(inside, rest, override) };
}

/** What takes the place of a text is text. Anything else is JSON where it can be read as such, and text where it cannot. */
function typed(text: string, before: unknown): unknown {
  if (typeof before === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
