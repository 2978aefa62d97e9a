import { expect, test } from "bun:test";
import { Owner } from "#harness/lone-connection";
import { incomingBody } from "./incoming-body.ts";
import { ReceiveBuffer } from "./receive-buffer.ts";

const KIB = 1_024;

test("the bytes of a body are not kept when it is known to be too large", () => {
  const body = incomingBody("chunked", 64 * KIB);
  const receiveBuffer = new ReceiveBuffer();
  const ends = Array.from({ length: 5 }, () => {
    receiveBuffer.append(Buffer.from(`4000\r\n${"a".repeat(16 * KIB)}\r\n`));
    return body.advance(receiveBuffer);
  });
  // Four make the limit, the fifth exceeds it: by its size line, before its bytes are looked at.
  const refused = { problem: { kind: "body-too-large" as const, bytesMax: 64 * KIB } };
  expect(ends).toEqual([undefined, undefined, undefined, undefined, refused]);
  expect(incomingBody(64 * KIB + 1, 64 * KIB).advance(new ReceiveBuffer())).toEqual(refused);
});

test("what has arrived and is not used yet is counted, and no longer when it is", async () => {
  const owner = new Owner();
  await owner.send("GET / HTTP/1.1\r\n");
  expect(owner.heldBytes).toBe(16);
  await owner.send("Host: h\r\n");
  expect(owner.heldBytes).toBe(25);
  await owner.send("\r\n");
  expect({ held: owner.heldBytes, responses: owner.responses }).toEqual({ held: 0, responses: "!" });
});
