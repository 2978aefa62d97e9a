import { expect, test } from "bun:test";
import { traceContextOf } from "./tracing.ts";

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("D-357: a traceparent of W3C Trace Context is taken, also one of a later version", () => {
  expect(traceContextOf(TRACE, undefined)).toEqual({ traceparent: TRACE, tracestate: null });
  const later = TRACE.replace("00-", "cc-");
  expect(traceContextOf(later, undefined)?.traceparent).toBe(later);
  expect(traceContextOf(`${later}-what-comes`, undefined)?.traceparent).toBe(`${later}-what-comes`);
});

test("D-357: a traceparent that is not valid begins a new trace", () => {
  const wrong = [
    ...["", "00", "hello", TRACE.toUpperCase(), TRACE.replace("00-", "ff-"), TRACE.slice(0, -1), `${TRACE}-more`, `${TRACE}0`, ` ${TRACE}`],
    ...[`${TRACE}, ${TRACE}`, TRACE.replace(/0af7[0-9a-f]+/, "0".repeat(32)), TRACE.replace("b7ad6b7169203331", "0".repeat(16)), `${TRACE}\n`],
    `${TRACE.replace("00-", "cc-")}-${"x".repeat(200)}`,
  ];
  expect(wrong.filter((text) => traceContextOf(text, undefined) !== undefined)).toEqual([]);
  expect(traceContextOf(undefined, "a=1")).toBeUndefined();
});

test("D-357: a tracestate is passed on up to 512 characters and 32 members, and left out if it is not valid", () => {
  const stateOf = (text: string) => traceContextOf(TRACE, text)?.tracestate;
  expect(stateOf("rojo=00f067aa0ba902b7, congo=t61rcWkgMzE,,")).toBe("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  expect(stateOf("1a@vendor=x y")).toBe("1a@vendor=x y");
  const members = (count: number) => Array.from({ length: count }, (_, at) => `k${at}=v`).join(",");
  expect(stateOf(members(32))).toBe(members(32));
  for (const wrong of ["", ",", "a", "a=", "A=1", "a=1,a=2", "a=é", "a=b=c", members(33), `a=${"x".repeat(255)},b=${"y".repeat(255)}`])
    expect({ wrong, stored: stateOf(wrong) }).toEqual({ wrong, stored: null });
});
