/** Compares the output of a documented command with the output that its page shows. */

const ANY = "…";

/** The path in the JSON at which `printed` differs from `shown`, or undefined if they are equal. In `shown`, `…` inside a string is any text. */
export function differenceOf(shown: unknown, printed: unknown, place = "$"): string | undefined {
  if (Array.isArray(shown) && Array.isArray(printed)) {
    if (shown.length !== printed.length) return `${place} has ${printed.length} items, the page shows ${shown.length}`;
    return first(shown.map((item, at) => differenceOf(item, printed[at], `${place}[${at}]`)));
  }
  if (isObject(shown) && isObject(printed)) {
    const [expected, got] = [Object.keys(shown).sort().join(", "), Object.keys(printed).sort().join(", ")];
    if (expected !== got) return `${place} has the keys ${got}, the page shows ${expected}`;
    return first(Object.keys(shown).map((key) => differenceOf(shown[key], printed[key], `${place}.${key}`)));
  }
  if (typeof shown === "string" && typeof printed === "string" && patternOf(shown).test(printed)) return undefined;
  return shown === printed ? undefined : `${place} is ${JSON.stringify(printed)}, the page shows ${JSON.stringify(shown)}`;
}

const first = (differences: readonly (string | undefined)[]): string | undefined => differences.find((difference) => difference !== undefined);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const patternOf = (shown: string): RegExp => new RegExp(`^${shown.split(ANY).map(RegExp.escape).join("[\\s\\S]*")}$`);
