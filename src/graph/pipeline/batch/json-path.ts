/** The part of JSONPath that batches use: `$.a.b`, `$.a[0]`, `$.a.*.b`, `$.a[*]`, `$['a']`, `$..a`. */
import { invalidParameter } from "#kernel/errors";

const STEP = /\.\.([\w-]+)|\.([\w-]+)|\.\*|\[(\d+)\]|\[\*\]|\['([^']*)'\]/y;
/** Deeper than any response. */
const STEPS_MAX = 32;

interface Step {
  /** Undefined: every child. */
  readonly key: string | undefined;
  /** At any depth. */
  readonly isAnywhere: boolean;
}

/** Throws `invalidParameter` for a path that cannot be read. */
export function readPath(path: string): readonly Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (match === null || steps.length >= STEPS_MAX) throw invalidParameter("batch", `has a path that cannot be read at position ${at}: ${path}`);
    const [, anywhere, name, index, quoted] = match;
    steps.push({ key: anywhere ?? name ?? index ?? quoted, isAnywhere: anywhere !== undefined });
  }
  return steps;
}

/** `visit` is called for every value that is looked at, and may throw: `$..a..a` finds what nests in itself many times. */
export function valuesAt(document: unknown, steps: readonly Step[], visit: () => void): readonly unknown[] {
  let found: unknown[] = [document];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of found) collect(value, step, next, visit);
    found = next;
  }
  return found;
}

function collect(value: unknown, step: Step, found: unknown[], visit: () => void): void {
  visit();
  if (typeof value !== "object" || value === null) return;
  const { key, isAnywhere } = step;
  if (key !== undefined && Object.hasOwn(value, key)) found.push((value as Record<string, unknown>)[key]);
  if (key !== undefined && !isAnywhere) return;
  for (const inner of Object.values(value)) {
    if (isAnywhere) collect(inner, step, found, visit);
    else {
      visit();
      found.push(inner);
    }
  }
}
