/**
 * Converts the decimal text of a `_valueToSum` to an integer of millionths, and back (D-70). Sums of amounts are exact, because amounts are integers
 * and not binary floats.
 */
import { trimmedEnd } from "#kernel/text";

/** D-70: an amount has at most 12 digits before the decimal point, and is rounded to 6 digits after the point. */
const INTEGER_DIGITS_MAX = 12;
const FRACTION_DIGITS_MAX = 6;
/** Matches a decimal with an optional exponent (`1e3`), because JSON allows exponents. */
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/**
 * Converts the text of an amount to millionths. An amount with more than 6 digits after the point is rounded half-even (D-70). For an invalid amount,
 * returns a text that says what is wrong.
 */
export function readAmount(text: string): bigint | string {
  const plain = readPlain(text);
  if (plain !== -1) return BigInt(plain);
  const match = DECIMAL.exec(text);
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match ?? [];
  if (match === null || whole.length + fraction.length === 0) return "must be a number";
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const first = firstNonZero(digits);
  if (first === -1) return 0n;
  if (point - first > INTEGER_DIGITS_MAX) return `must have at most ${INTEGER_DIGITS_MAX} digits before the decimal point`;
  const scaled = roundedAt(digits.slice(first), point - first + FRACTION_DIGITS_MAX);
  return sign === "-" ? -scaled : scaled;
}

/**
 * Returns the first `kept` digits as a number, rounded half-even by the remaining digits. If the amount has fewer than `kept` digits, zeros are
 * appended.
 */
function roundedAt(digits: string, kept: number): bigint {
  if (kept < 0) return 0n;
  const number = BigInt(digits.slice(0, kept).padEnd(kept, "0"));
  const next = digits[kept] ?? "0";
  const isAboveHalf = next > "5" || (next === "5" && firstNonZero(digits, kept + 1) !== -1);
  return isAboveHalf || (next === "5" && number % 2n === 1n) ? number + 1n : number;
}

/**
 * The greatest length of a text that `readPlain` converts. In millionths, an amount of this length is below 2^53, so a JavaScript number represents
 * the amount exactly.
 */
const PLAIN_CHARACTERS_MAX = 9;

/** Reads a common amount such as `21.97` or `5` without a regular expression, which is faster. Returns -1 if the text is not a common amount. */
function readPlain(text: string): number {
  if (text.length === 0 || text.length > PLAIN_CHARACTERS_MAX) return -1;
  let digits = 0;
  let behind = -1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 46 && behind === -1 && i > 0) behind = 0;
    else if (unit < 48 || unit > 57) return -1;
    else {
      digits = digits * 10 + (unit - 48);
      if (behind !== -1) behind++;
    }
  }
  if (behind === 0 || behind > FRACTION_DIGITS_MAX) return -1;
  return digits * 10 ** (FRACTION_DIGITS_MAX - Math.max(behind, 0));
}

function firstNonZero(digits: string, from = 0): number {
  for (let i = from; i < digits.length; i++) if (digits.charCodeAt(i) !== 48) return i;
  return -1;
}

/** Writes an amount as the shortest decimal, for example `30.3`, `-0.000001` or `0`. */
export function amountText(millionths: bigint): string {
  const sign = millionths < 0n ? "-" : "";
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(FRACTION_DIGITS_MAX + 1, "0");
  const whole = digits.slice(0, -FRACTION_DIGITS_MAX);
  const fraction = trimmedEnd(digits.slice(-FRACTION_DIGITS_MAX), "0");
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
}
