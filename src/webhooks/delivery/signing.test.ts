import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { asciiJson, envelopeOf, type Update } from "../events/envelope.ts";
import { signatureHeaders } from "./signing.ts";

/** Uses the standardwebhooks package as an independent verifier, which accepts only signatures of the last minutes. */
function isValid(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(Buffer.from(secret, "utf8").toString("base64")).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

describe("signatures", () => {
  test("D-62: X-Hub-Signature-256 is the HMAC of the exact bytes; a known pair", () => {
    // Computed with `printf '{"a":1}' | openssl dgst -sha256 -hmac s3cret`.
    const headers = signatureHeaders(["s3cret"], { webhookId: "msg_1", timestamp: 1_700_000_000, body: '{"a":1}' });
    expect(headers["X-Hub-Signature-256"]).toBe("sha256=5910e62016ef5034272c926c27071992a465c2335cecf41851bda071577f4f6d");
    // Computed with `printf 'msg_1.1700000000.{"a":1}' | openssl dgst -sha256 -hmac s3cret -binary | base64`.
    expect(headers["webhook-signature"]).toBe("v1,JTnXZsicQmbYBUKbG0PXd2OqV6VmCFiMTEvW8yxopSo=");
    expect(headers["webhook-timestamp"]).toBe("1700000000");
  });

  test("D-307: X-Hub-Signature is the same with SHA-1, for receivers that know only this one", () => {
    const parts = { webhookId: "msg_1", timestamp: 1_700_000_000, body: '{"a":1}' };
    // Computed with `printf '{"a":1}' | openssl dgst -sha1 -hmac s3cret`.
    expect(signatureHeaders(["s3cret", "old"], { ...parts, hasSha1: true })).toEqual({
      ...signatureHeaders(["s3cret", "old"], parts),
      "X-Hub-Signature": "sha1=79999786a1bff10cd4d7dd0b0752574af76be0b5",
    });
    expect(signatureHeaders(["s3cret"], parts)).not.toHaveProperty("X-Hub-Signature");
  });

  test("Standard Webhooks: valid for its secret, and not if a byte differs", () => {
    const secret = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(secret, secret, fc.json(), (one, other, text) => {
        const timestamp = nowSeconds();
        const body = asciiJson(JSON.parse(text));
        const headers = signatureHeaders([one], { webhookId: "msg_7", timestamp, body });
        expect(isValid(one, body, headers)).toBe(true);
        expect(isValid(one, `${body} `, headers)).toBe(false);
        expect(isValid(one, body, { ...headers, "webhook-id": "msg_8" })).toBe(false);
        expect(isValid(one, body, { ...headers, "webhook-timestamp": String(timestamp + 1) })).toBe(false);
        expect(isValid(other, body, headers)).toBe(other === one);
      }),
    );
  });

  test("while an old secret overlaps a new one, receivers with either accept", () => {
    const headers = signatureHeaders(["new", "old"], { webhookId: "msg_1", timestamp: nowSeconds(), body: "{}" });
    expect(["new", "old", "older"].filter((secret) => isValid(secret, "{}", headers))).toEqual(["new", "old"]);
    expect(headers["X-Hub-Signature-256"]).toBe(`sha256=${createHmac("sha256", "new").update("{}").digest("hex")}`);
  });
});

describe("D-62: bodies", () => {
  test("everything outside ASCII is written as \\uXXXX, and is read back unchanged", () => {
    expect(asciiJson({ text: "Ä𝄞é" })).toBe('{"text":"\\u00c4\\ud834\\udd1e\\u00e9"}');
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const text = asciiJson(value);
        expect(text).toMatch(/^[\u0020-\u007f]*$/);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  const update = (entity: string, timeMs: number, field: string, payload: unknown, carriedIn: Update["carriedIn"] = "changes"): Update => ({
    entity,
    timeMs,
    field,
    carriedIn,
    payload: asciiJson(payload),
  });

  test("the bytes of a body, which retries after an update of the program must repeat", () => {
    const updates = [
      update("4001", 1_795_000_000_999, "calls", { a: "ä" }),
      update("4001", 1_795_000_000_000, "messages", 1),
      update("4001", 1_795_000_001_000, "messages", 2),
      update("6001", 1_795_000_001_000, "messages", { mid: "m" }, "messaging"),
      update("6001", 1_795_000_001_000, "messages", { mid: "n" }, "messaging"),
    ];
    expect(envelopeOf("chatapp_business_account", updates)).toBe(
      '{"object":"chatapp_business_account","entry":[' +
        '{"id":"4001","time":1795000000,"changes":[{"field":"calls","value":{"a":"\\u00e4"}},{"field":"messages","value":1}]},' +
        '{"id":"4001","time":1795000001,"changes":[{"field":"messages","value":2}]},' +
        '{"id":"6001","time":1795000001,"messaging":[{"mid":"m"},{"mid":"n"}]}]}',
    );
  });

  test("any updates are sent in order, each in an entry of its entity and second", () => {
    const any = fc.record({
      entity: fc.constantFrom("1", "2"),
      timeMs: fc.integer({ min: 0, max: 3_000 }),
      field: fc.constantFrom("calls", "history"),
      carriedIn: fc.constantFrom("changes" as const, "messaging" as const),
      payload: fc.jsonValue().map(asciiJson),
    });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1 }), (updates) => {
        const body = JSON.parse(envelopeOf("page", updates));
        expect(body.object).toBe("page");
        const read = body.entry.flatMap(
          (entry: { id: string; time: number; changes?: { field: string; value: unknown }[]; messaging?: unknown[] }) => [
            ...(entry.changes ?? []).map(({ field, value }) => ({ entity: entry.id, time: entry.time, field, value })),
            ...(entry.messaging ?? []).map((value) => ({ entity: entry.id, time: entry.time, field: "", value })),
          ],
        );
        expect(read).toEqual(
          updates.map(({ entity, timeMs, field, carriedIn, payload }) => ({
            entity,
            time: Math.floor(timeMs / 1000),
            field: carriedIn === "changes" ? field : "",
            value: JSON.parse(payload),
          })),
        );
      }),
    );
  });
});
