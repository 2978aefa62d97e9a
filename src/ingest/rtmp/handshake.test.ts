import { expect, test } from "bun:test";
import { Handshake } from "./handshake.ts";

const PART = 1536;
/** C0 and C1, in which every byte differs from its neighbours. */
const hello = Uint8Array.from({ length: 1 + PART }, (_, at) => (at === 0 ? 3 : at & 0xff));

function open() {
  const replies: Uint8Array[] = [];
  const handshake = new Handshake();
  const read = (bytes: Uint8Array) =>
    handshake.read(
      bytes,
      (count) => new Uint8Array(count).fill(7),
      (reply) => void replies.push(reply),
    );
  return { replies, read };
}

test("section 5.2: the reply is the version, a part with random bytes, and the peer's own part", () => {
  const { replies, read } = open();
  expect(read(hello)).toBeUndefined();
  expect(replies).toHaveLength(1);
  const [reply = new Uint8Array()] = replies;
  expect([...reply.subarray(0, 10)]).toEqual([3, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
  expect(new Set(reply.subarray(9, 1 + PART))).toEqual(new Set([7]));
  expect(reply.subarray(1 + PART)).toEqual(hello.subarray(1));
});

test("it ends with the last byte of the peer's third part, at any cut, and the rest is the peer's", () => {
  const { replies, read } = open();
  expect([read(new Uint8Array()), read(hello.subarray(0, 1)), read(hello.subarray(1, PART)), replies.length]).toEqual([
    ...[undefined, undefined, undefined, 0],
  ]);
  expect([read(Uint8Array.of(hello.at(-1) as number, 9, 9)), replies.length]).toEqual([undefined, 1]);
  expect([read(new Uint8Array(PART - 3)), replies.length]).toEqual([undefined, 1]);
  expect(read(Uint8Array.of(9, 4, 5))).toEqual(Uint8Array.of(4, 5));
  const whole = open();
  whole.read(hello);
  expect(whole.read(new Uint8Array(PART))).toEqual(new Uint8Array());
});

test("another version is refused at its first byte", () => {
  for (const version of [0, 2, 4, 6, 0x47]) expect(() => open().read(Uint8Array.of(version))).toThrow("the peer does not speak RTMP");
});
