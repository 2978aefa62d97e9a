import { expect, test } from "bun:test";
import fc from "fast-check";
import { ReceiveBuffer } from "./receive-buffer.ts";

const sizes = fc.oneof(fc.nat(20), fc.integer({ min: 4_000, max: 10_000 }));
const steps = fc.array(fc.tuple(fc.constantFrom("append", "append", "append", "take", "skip", "read"), sizes), { maxLength: 40 });

test("the bytes are those that were appended, in pieces of any size, however they are read", () => {
  fc.assert(
    fc.property(steps, (asked) => {
      const buffer = new ReceiveBuffer();
      const taken: [Buffer, string][] = [];
      let expected = Buffer.alloc(0);
      let next = 0;
      for (const [step, size] of asked) {
        const count = Math.min(size, expected.length);
        if (step === "append") {
          const piece = Buffer.from(Array.from({ length: size }, () => next++ % 251));
          buffer.append(piece);
          expected = Buffer.concat([expected, piece]);
        } else if (step === "read") {
          expect(buffer.unread().equals(expected)).toBe(true);
          expect(buffer.byteAt(count)).toBe(expected[count]);
          expect(buffer.indexOf("\u0000\u0001", count)).toBe(expected.indexOf("\u0000\u0001", count, "latin1"));
          expect(buffer.text(count, count + 10)).toBe(expected.toString("latin1", count, count + 10));
        } else {
          if (step === "skip") buffer.skip(count);
          else taken.push([buffer.take(count), expected.toString("latin1", 0, count)]);
          expected = expected.subarray(count);
        }
        expect(buffer.length).toBe(expected.length);
      }
      for (const [bytes, text] of taken) expect(bytes.toString("latin1")).toBe(text);
    }),
  );
});
