/** Reads the JSON paths of cases: `data[0].name`, `data[*].id`, `["odd.key"]`. The path `$`, or an empty text, means the whole value. */

const STEP = /\.?([A-Za-z0-9_-]+)|\[(\d+|\*|-\d+)\]|\["([^"]*)"\]/y;

type PathStep = string | number | "*";

function stepsOf(path: string): PathStep[] {
  const text = path.replace(/^\$\.?/, "");
  const steps: PathStep[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const at = STEP.lastIndex;
    const found = STEP.exec(text);
    if (found === null) throw new Error(`the path ${path} cannot be read at position ${at}`);
    if (found[2] !== undefined) steps.push(found[2] === "*" ? "*" : Number(found[2]));
    else steps.push(found[1] ?? found[3] ?? "");
  }
  return steps;
}

/**
 * Returns the value at `path`, or undefined. A path with `[*]` returns the list of the values of all elements; elements that have no value at the
 * path are left out.
 */
export function valueAt(value: unknown, path: string): unknown {
  const steps = stepsOf(path);
  if (!steps.includes("*")) return follow([value], steps)[0];
  return follow([value], steps);
}

function follow(start: unknown[], steps: readonly PathStep[]): unknown[] {
  let values = start;
  for (const step of steps) {
    values = values.flatMap((value) => {
      if (step === "*") return Array.isArray(value) ? value : [];
      if (typeof step === "number") return Array.isArray(value) ? [value.at(step)] : [];
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
      return isObject && Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
    });
  }
  return values.filter((value) => value !== undefined);
}
