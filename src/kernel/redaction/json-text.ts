/** Finds the ends of strings and values in JSON text, without parsing the whole text. */

/** Returns the position of the closing quote of the string that begins at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

/**
 * Returns the position of the opening quote of the string around `at`. The result is -1 if `at` is not inside a string that begins at `from` or
 * later.
 */
export function startOfString(text: string, at: number, from: number): number {
  let start = text.lastIndexOf('"', at);
  while (start >= from && isEscaped(text, start)) start = text.lastIndexOf('"', start - 1);
  return start >= from ? start : -1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++;
  return backslashes % 2 === 1;
}

/** Returns the position of the end of the JSON value that begins at `start`. The text must be valid JSON, or the first characters of valid JSON. */
export function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === 34) return Math.min(endOfString(text, start) + 1, text.length);
  let at = start;
  if (first !== 123 && first !== 91) {
    while (at < text.length && !isAfterLiteral(text.charCodeAt(at))) at++;
    return at;
  }
  let depth = 0;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 34) at = endOfString(text, at);
    else if (unit === 123 || unit === 91) depth++;
    else if ((unit === 125 || unit === 93) && --depth === 0) return at + 1;
  }
  return text.length;
}

const isAfterLiteral = (unit: number): boolean => unit === 44 || unit === 125 || unit === 93 || isBlank(unit);

const isBlank = (unit: number): boolean => unit === 32 || unit === 10 || unit === 13 || unit === 9;

export function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"/iy;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped.
const CUT_STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*(?:\\(?:u[0-9a-f]{0,3})?)?$/iy;
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The JSON token that may come next. In the state `first-…` the closing bracket may come instead of a name or value. */
type Expected = "value" | "first-value" | "name" | "first-name" | "colon" | "separator" | "end";

/**
 * Returns the length of the longest prefix of the text with which valid JSON can begin. If the text is valid JSON, or was cut from valid JSON, the
 * result is its whole length.
 */
export function jsonPrefixLength(text: string): number {
  const closers: number[] = [];
  let expected: Expected = "value";
  let at = 0;
  for (;;) {
    at = skipBlanks(text, at);
    if (at >= text.length) return text.length;
    const unit = text.charCodeAt(at);
    const isClosing = unit === closers.at(-1) && (expected === "separator" || expected.startsWith("first-"));
    if (isClosing) {
      closers.pop();
      at++;
      expected = closers.length === 0 ? "end" : "separator";
    } else if (expected === "colon" || expected === "separator") {
      if (unit !== (expected === "colon" ? 58 : 44)) return at;
      at++;
      expected = expected === "separator" && closers.at(-1) === 125 ? "name" : "value";
    } else if (expected === "end") return at;
    else if (unit === 34) {
      const end = endOfMatch(STRING, text, at);
      if (end === -1) return endOfMatch(CUT_STRING, text, at) === -1 ? at : text.length;
      at = end;
      expected = expected.endsWith("name") ? "colon" : closers.length === 0 ? "end" : "separator";
    } else if (expected.endsWith("name")) return at;
    else if (unit === 123 || unit === 91) {
      closers.push(unit + 2);
      at++;
      expected = unit === 123 ? "first-name" : "first-value";
    } else {
      const end = endOfMatch(LITERAL, text, at);
      if (end === -1) return at;
      at = end;
      expected = closers.length === 0 ? "end" : "separator";
    }
  }
}

/** Returns the end of the match of the pattern at this position. The result is -1 if the pattern does not match at this position. */
function endOfMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}
