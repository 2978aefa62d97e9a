/** Reads and formats JSON without rounding: `JSON.parse` changes a number such as 9007199254740993. */

/** Matching takes time in proportion to the length of the text, because at each character only one alternative fits. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/**
 * Matches a number that may lose digits as a number of JavaScript. A binary float keeps up to 15 significant digits, and
 * exponents of up to two digits.
 */
const LONG_NUMBER = /^-?\d[\d.]{15}|^-?\d.*[eE][+-]?\d{3}/;

/** Returns whether a number would lose digits as a number of JavaScript. A long number is exact if JavaScript would write the same text. */
export const losesDigits = (number: string): boolean => LONG_NUMBER.test(number) && String(Number(number)) !== number;

/** Parses JSON that a person wrote. Throws an error if a number would lose digits. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  for (const [token] of text.matchAll(TOKENS))
    if (losesDigits(token)) throw new Error(`the number ${token.slice(0, 50)} has more digits than can be kept: write it in quotes`);
  return value;
}

/**
 * The greatest depth of JSON that is formatted; no request or response body of Plaza is deeper. Each line is indented by its depth, so
 * deep JSON would become far longer.
 */
const DEPTH_MAX = 100;

/** Formats JSON without changing a digit. If the text is not JSON, it is returned unchanged. */
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
