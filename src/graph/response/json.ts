/**
 * JSON from a caller: limited in depth, and with numbers kept as text where a binary float would lose digits (63-bit ids,
 * `_valueToSum`; D-02, D-70).
 */
import { invalidParameter, malformedRequest } from "#kernel/errors";
import { endOfString } from "#kernel/redaction/json-text";
import { JsonNumber } from "../pipeline/request.ts";

/** The deepest shape of the interface has six levels; 32 leave room and keep every recursion short. */
export const JSON_DEPTH_MAX = 32;
/** Up to 15 significant digits survive a binary float unchanged. */
const EXACT_DIGITS_MAX = 15;

/** `what` says in the error which text it is, e.g. `The request body`. Throws `invalidParameter` (code 100). */
export const parseJson = (text: string, what: string): unknown => parseJsonOr(text, (problem) => malformedRequest(`${what} ${problem}`));

/** JSON as the value of a parameter (D-34), which the error names. */
export const parseJsonParameter = (text: string, name: string): unknown => parseJsonOr(text, (problem) => invalidParameter(name, problem));

type Refusal = (problem: string) => Error;

/** Throws what `refused` makes of the problem, e.g. of `is not valid JSON`. */
export function parseJsonOr(text: string, refused: Refusal): unknown {
  const hasLongNumber = inspect(text, refused);
  try {
    return hasLongNumber ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    throw refused("is not valid JSON");
  }
}

const keepDigits = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === "number" && context?.source !== undefined && context.source.length > EXACT_DIGITS_MAX ? new JsonNumber(context.source) : value;

/** One scan outside of strings. Returns whether some number must keep its digits; throws for text that nests too deep. */
function inspect(text: string, refused: Refusal): boolean {
  let depth = 0;
  let digits = 0;
  let hasLongNumber = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 34) i = endOfString(text, i);
    else if (unit === 123 || unit === 91) {
      if (++depth > JSON_DEPTH_MAX) throw refused(`nests deeper than ${JSON_DEPTH_MAX} levels`);
    } else if (unit === 125 || unit === 93) depth--;
    else if (unit >= 48 && unit <= 57) {
      if (++digits > EXACT_DIGITS_MAX) hasLongNumber = true;
      // Between two numbers stands a comma or a colon.
    } else if (unit !== 46) digits = 0;
  }
  return hasLongNumber;
}
