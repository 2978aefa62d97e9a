/** The part of JSONPath that batches use: `$.a.b`, `$.a[0]`, `$.a.*.b`, `$.a[*]`, `$['a']`, `$..a`. */
import { invalidParameter } from "#kernel/errors";

const STEP = /\.\.([\w-]+)|\.([\w-]+)|\.(\*)|\[(\d+)\]|\[(\*)\]|\['([^']*)'\]/y;
/** Deeper than any response. */
const STEPS_MAX = 32;

export function jsonPath(document: unknown, path: string): unknown[] {
  let found: unknown[] = [document];
  STEP.lastIndex = 1;
  for (let steps = 0; STEP.lastIndex < path.length; steps++) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (match === null || steps >= STEPS_MAX) throw invalidParameter("batch", `has a path that cannot be read at position ${at}: ${path}`);
    const [, anywhere, name, star, index, bracketStar, quoted] = match;
    const key = name ?? index ?? quoted;
    found =
      anywhere !== undefined
        ? found.flatMap((value) => descendants(value, anywhere))
        : found.flatMap((value) => children(value, star ?? bracketStar, key));
  }
  return found;
}

function children(value: unknown, star: string | undefined, key: string | undefined): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (star !== undefined) return Object.values(value);
  return key !== undefined && Object.hasOwn(value, key) ? [(value as Record<string, unknown>)[key]] : [];
}

function descendants(value: unknown, key: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return [...children(value, undefined, key), ...Object.values(value).flatMap((inner) => descendants(inner, key))];
}
