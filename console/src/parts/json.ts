/** JSON without rounding: `JSON.parse` changes a number such as 9007199254740993. */

/** Linear: no character fits in two ways. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Up to 15 significant digits survive a binary float, and up to an exponent of two digits so does the size. */
const LONG_NUMBER = /^-?\d[\d.]{15}|^-?\d.*[eE][+-]?\d{3}/;

/** A long number is exact if the browser would write the same text. */
export const losesDigits = (number: string): boolean => LONG_NUMBER.test(number) && String(Number(number)) !== number;

/** Reads what a person wrote. Throws an error for a number that would lose digits. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  for (const [token] of text.matchAll(TOKENS))
    if (losesDigits(token)) throw new Error(`the number ${token.slice(0, 50)} has more digits than can be kept: write it in quotes`);
  return value;
}

/** Deeper than anything that Plaza serves. Each line is indented by its depth, so that a deep body would become far longer. */
const DEPTH_MAX = 100;

/** Formats JSON and keeps every digit; other text is unchanged. */
export function pretty(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let out = "";
  let depth = 0;
  let before = "";
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(TOKENS)) {
    const isClosing = token === "}" || token === "]";
    const isInside = before === "{" || before === "[" || before === ",";
    if (isClosing) depth--;
    if (isClosing ? before !== "{" && before !== "[" : isInside) out += line();
    if (token === "{" || token === "[") depth++;
    if (depth > DEPTH_MAX) return text;
    out += token === ":" ? ": " : token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
    before = token;
  }
  return out;
}
