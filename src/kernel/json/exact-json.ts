/** JSON whose numbers all have a value of a binary float: any other number would lose digits, and is refused. */
import { trimmedEnd } from "../text.ts";

/** A number that would lose digits. */
export class InexactNumber extends Error {
  constructor(
    readonly source: string,
    readonly key: string,
  ) {
    super(`the number ${source.slice(0, 50)} has more digits than can be kept: send it as text`);
    this.name = "InexactNumber";
  }
}

/** Up to 15 significant digits survive a binary float, and up to an exponent of two digits so does the size. */
export const LONG_NUMBER = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;

/** Throws `InexactNumber`, and the error of `JSON.parse`. */
export const parseExactJson = (text: string): unknown => (LONG_NUMBER.test(text) ? JSON.parse(text, expectExact) : JSON.parse(text));

function expectExact(key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  if (!isExact(context.source)) throw new InexactNumber(context.source, key);
  return value;
}

/** Whether a binary float has the value of this decimal number. */
export function isExact(source: string): boolean {
  const value = Number(source);
  return Number.isFinite(value) && decimalOf(source) === decimalOf(String(value));
}

/** One text for each decimal value: significant digits without zeros at either end, and the exponent. */
function decimalOf(source: string): string {
  const [mantissa = "", exponent = "0"] = source.replace(/^[-+]/, "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = trimmedEnd(digits, "0");
  return significant === "" ? "0" : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
