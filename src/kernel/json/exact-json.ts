/** Reads JSON and refuses numbers that a binary float cannot represent exactly. */
import { trimmedEnd } from "../text.ts";

/** The error about a number that a binary float cannot represent exactly. */
export class InexactNumber extends Error {
  constructor(
    readonly source: string,
    readonly key: string,
  ) {
    super(`the number ${source.slice(0, 50)} has more digits than can be kept: send it as text`);
    this.name = "InexactNumber";
  }
}

/**
 * Matches numbers that may lose digits as a binary float. A binary float represents every number with up to 15 significant digits and an exponent of
 * up to two digits.
 */
export const LONG_NUMBER = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;

/** Reads JSON. Throws `InexactNumber` for a number that a float cannot represent, and the error of `JSON.parse` for a text that is not JSON. */
export const parseExactJson = (text: string): unknown => (LONG_NUMBER.test(text) ? JSON.parse(text, expectExact) : JSON.parse(text));

function expectExact(key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  if (!isExact(context.source)) throw new InexactNumber(context.source, key);
  return value;
}

/** Whether the binary float for this decimal number has exactly the same value. */
export function isExact(source: string): boolean {
  const value = Number(source);
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}

/**
 * Returns a decimal number in a form that is the same for all spellings of the number: the significant digits without zeros at either end, and the
 * exponent.
 */
function decimalOf(source: string): string {
  const [mantissa = "", exponent = "0"] = source.replace(/^[-+]/, "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = trimmedEnd(digits, "0");
  return significant === "" ? "0" : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
