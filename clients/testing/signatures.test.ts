import { expect, test } from "bun:test";
import fc from "fast-check";
import { signatureHeaders } from "#webhooks/delivery/signing";
import { signatureProblem } from "./signatures.ts";

const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const nowSeconds = () => Math.floor(Date.now() / 1000);
const signed = (secrets: readonly string[], body: string, timestamp = nowSeconds()) =>
  lowerCase(signatureHeaders(secrets, { webhookId: "msg_1", timestamp, body }));

test("D-62: accepts what Plaza signs, and nothing that differs", () => {
  const secret = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(
    fc.property(secret, secret, fc.json(), (one, other, body) => {
      const headers = signed([one], body);
      expect(signatureProblem(one, headers, body)).toBeUndefined();
      expect(signatureProblem(one, headers, `${body} `)).toContain("X-Hub-Signature-256");
      expect(signatureProblem(one, { ...headers, "webhook-id": "msg_2" }, body)).toContain("webhook-signature");
      expect(signatureProblem(other, headers, body) === undefined).toBe(one === other);
    }),
  );
});

test("D-62: while an old and a new secret overlap, the new one counts", () => {
  const headers = signed(["new", "old"], "{}");
  expect(signatureProblem("new", headers, "{}")).toBeUndefined();
  expect(signatureProblem("old", headers, "{}")).toContain("X-Hub-Signature-256");
});

test("names a missing header and a wrong time", () => {
  const headers = signed(["s3cret"], "{}");
  for (const name of Object.keys(headers)) {
    const { [name]: _, ...rest } = headers;
    expect(signatureProblem("s3cret", rest, "{}")?.toLowerCase()).toContain(name);
  }
  expect(signatureProblem("s3cret", signed(["s3cret"], "{}", nowSeconds() - 600), "{}")).toContain("webhook-timestamp");
  expect(signatureProblem("s3cret", { ...headers, "webhook-timestamp": "soon" }, "{}")).toContain("webhook-timestamp");
});
