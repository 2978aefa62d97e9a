import { expect, test } from "bun:test";
import fc from "fast-check";
import { amountText, readAmount } from "./amounts.ts";

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{0,${most}}$`));

test("D-70: a value with 12 digits before the point and 6 after it is returned digit by digit", () => {
  fc.assert(
    fc.property(fc.constantFrom("", "-", "+"), digits(12), digits(6), (sign, whole, fraction) => {
      fc.pre(whole + fraction !== "");
      const scaled = BigInt(`${whole}${fraction.padEnd(6, "0")}`);
      const amount = readAmount(`${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`);
      expect(amount).toBe(sign === "-" ? -scaled : scaled);
      expect(readAmount(amountText(amount as bigint))).toBe(amount as bigint);
    }),
  );
});

test("D-70: digits beyond the sixth after the point are rounded half-even", () => {
  const fraction = fc.oneof(fc.stringMatching(/^[0-9]{7,40}$/), fc.stringMatching(/^[0-9]{6}50{0,30}$/), fc.stringMatching(/^0{0,9}[0-9]{1,9}$/));
  fc.assert(
    fc.property(fc.constantFrom("", "-"), digits(12), fraction, (sign, whole, behind) => {
      const exact = BigInt(whole + behind);
      const unit = 10n ** BigInt(Math.max(behind.length - 6, 0));
      const scaled = behind.length < 6 ? exact * 10n ** BigInt(6 - behind.length) : exact / unit;
      const twice = behind.length < 6 ? 0n : (exact % unit) * 2n;
      const rounded = twice > unit || (twice === unit && scaled % 2n === 1n) ? scaled + 1n : scaled;
      const expected = sign === "-" ? -rounded : rounded;
      expect(readAmount(`${sign}${whole}.${behind}`)).toBe(expected);
      expect(readAmount(`${sign}${whole}${behind}e-${behind.length}`)).toBe(expected);
    }),
  );
});

test("D-70: a value with an exponent equals the same value without one", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 999_999n }), fc.integer({ min: -6, max: 6 }), (number, exponent) => {
      const expected = exponent >= 0 ? number * 10n ** BigInt(6 + exponent) : number * 10n ** BigInt(6 + exponent);
      expect(readAmount(`${number}e${exponent}`)).toBe(expected);
    }),
  );
});

test.each([
  ["0.1", "0.1"],
  ["30.30", "30.3"],
  ["-0.000001", "-0.000001"],
  ["999999999999.999999", "999999999999.999999"],
  ["000000000000012.5", "12.5"],
  ["1.0000000", "1"],
  ["1e3", "1000"],
  [".5", "0.5"],
  ["5.", "5"],
  ["0e999", "0"],
  ["0.0000001", "0"],
  ["1e-7", "0"],
  ["1e-1000", "0"],
  ["123456789012.1234567", "123456789012.123457"],
  ["0.0000005", "0"],
  ["0.00000050", "0"],
  ["0.00000050000001", "0.000001"],
  ["0.0000015", "0.000002"],
  ["-0.0000025", "-0.000002"],
  ["-2.5e-6", "-0.000002"],
  ["999999999999.9999995", "1000000000000"],
])("D-70: %s is kept as %s", (text, kept) => {
  expect(amountText(readAmount(text) as bigint)).toBe(kept);
});

test.each(["", "-", ".", "1,5", "1:5", "1/5", "1.5.0", "0x10", "Infinity", "NaN", "1e", " 1", "1e1000"])("D-70: %p is not a number", (text) => {
  expect(readAmount(text)).toBeString();
});

test.each(["1000000000000", "1e12", "1000000000000.0000001", "1e99999999999999999999"])("D-70: %s has too many digits", (text) => {
  expect(readAmount(text)).toMatch(/at most 12 digits/);
});
