/**
 * JSON from a caller: limited in depth. A number that a binary float would change keeps its text (63-bit ids, `_valueToSum`, `1e400`;
 * D-02, D-70).
 */
import { invalidParameter, malformedRequest } from "#kernel/errors";
import { endOfString } from "#kernel/redaction/json-text";
import { JsonNumber } from "../pipeline/request.ts";

/** The deepest shape of the interface has six levels; 32 leave room and keep every recursion short. */
export const JSON_DEPTH_MAX = 32;
/** Up to 15 significant digits survive a binary float unchanged. */
const EXACT_DIGITS_MAX = 15;

/** `what` names the text in the error, e.g. `The request body`. Throws `invalidParameter` (code 100). */
export const parseJson = (text: string, what: string): unknown => parseJsonOr(text, (problem) => malformedRequest(`${what} ${problem}`));

/** JSON as the value of a parameter (D-34), whose name is in the error. */
export const parseJsonParameter = (text: string, name: string): unknown => parseJsonOr(text, (problem) => invalidParameter(name, problem));

type Refusal = (problem: string) => Error;

/** Throws the error that `refused` makes of a problem, e.g. `is not valid JSON`. */
export function parseJsonOr(text: string, refused: Refusal): unknown {
  const hasInexactNumber = inspect(text, refused);
  try {
    return hasInexactNumber ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    throw refused("is not valid JSON");
  }
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined) return value;
  // `1e400` would be Infinity, and `1e-400` 0.
  const isExact = source.length <= EXACT_DIGITS_MAX && Number.isFinite(value) && (value !== 0 || !/[1-9]/.test(source.split(/e/i, 1).join()));
  return isExact ? value : new JsonNumber(source);
}

/** Scans the text outside of strings. Returns whether a number may have to keep its digits. Throws if the text nests too deep. */
function inspect(text: string, refused: Refusal): boolean {
  let depth = 0;
  let digits = 0;
  let hasInexactNumber = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 34) i = endOfString(text, i);
    else if (unit === 123 || unit === 91) {
      if (++depth > JSON_DEPTH_MAX) throw refused(`nests deeper than ${JSON_DEPTH_MAX} levels`);
    } else if (unit === 125 || unit === 93) depth--;
    else if (unit >= 48 && unit <= 57) {
      if (++digits > EXACT_DIGITS_MAX) hasInexactNumber = true;
    } else if (digits > 0 && (unit === 101 || unit === 69)) hasInexactNumber = true;
    // A comma, a colon or a bracket separates two numbers.
    else if (unit !== 46) digits = 0;
  }
  return hasInexactNumber;
}
