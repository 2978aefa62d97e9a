/** Checks with random texts that client and server agree about the normal forms of user data and the signatures of webhooks. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { hashUserData, normalizeUserData, readWebhook, SignatureError } from "#client/index";
import { normalizeUserData as normalForm, readUserData, userDataKeys } from "#feature/app-events/intake/parse-user-data";
import { tries } from "#harness/proof";
import { signatureHeaders } from "#webhooks/delivery/signing";
import { asciiJson, envelopeOf } from "#webhooks/events/envelope";

const numRuns = tries(100, 5_000);
/** The random texts have any UTF-16 code units, including unpaired surrogates, and scripts whose case, spaces and digits differ from ASCII. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(" İstanbul\u00a0", "ΌΣΟΣ", "١٢٣", "ǅ", "Straße\u2003"),
);
const key = fc.constantFrom(...userDataKeys);

test("UD-4 to UD-14: a value has the same normal form in the client and the server", () => {
  fc.assert(
    fc.property(key, text, (name, value) => expect(normalizeUserData(name, value)).toBe(normalForm(name, value))),
    { numRuns },
  );
});

test("UD-2, UD-3: the server keeps each value that the client hashed, and it is the hash of the server's normal form", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, text), async (data) => {
      const given = Object.entries(data).map(([name, value]) => [name, normalForm(name as (typeof userDataKeys)[number], value)]);
      const hashes = given.filter(([, value]) => value !== "").map(([name, value = ""]) => [name, createHash("sha256").update(value).digest("hex")]);
      expect(readUserData(await hashUserData(data))).toEqual({ kept: Object.fromEntries(hashes), dropped: 0 });
    }),
    { numRuns },
  );
});

const secret = fc.string({ unit: "binary", minLength: 1 }).map((one) => one.toWellFormed());
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

test("D-62: the server's signatures are accepted with any secret; a changed byte, id, time or secret is refused", async () => {
  const value = fc.jsonValue({ stringUnit: "binary" });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 3 }), secret, secret, fc.nat(), async (values, appSecret, other, at) => {
      const updates = values.map((one) => ({
        entity: "2001",
        timeMs: 1_000,
        field: "custom_labels",
        carriedIn: "changes" as const,
        payload: asciiJson(one),
      }));
      const body = envelopeOf("page", updates);
      const timestamp = nowSeconds();
      const headers = signatureHeaders([appSecret], { webhookId: "msg_7", timestamp, body });
      const platform = { "x-hub-signature-256": headers["X-Hub-Signature-256"] };
      const read = values.map((one) => ({ object: "page", field: "custom_labels", value: JSON.parse(JSON.stringify(one)), entity: "2001", time: 1 }));
      for (const own of [headers, platform]) {
        expect((await readWebhook({ body, headers: own, appSecret })).updates as unknown[]).toEqual(read);
        const bytes = Buffer.from(body);
        expect((await readWebhook({ body: bytes, headers: own, appSecret })).updates as unknown[]).toEqual(read);
        const changed = Uint8Array.from(bytes);
        changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ 1;
        await expect(readWebhook({ body: changed, headers: own, appSecret })).rejects.toBeInstanceOf(SignatureError);
        const isOther = other !== appSecret;
        const result = readWebhook({ body, headers: own, appSecret: other });
        await (isOther ? expect(result).rejects.toBeInstanceOf(SignatureError) : expect(result).resolves.toMatchObject({}));
      }
      for (const wrong of [{ "webhook-id": "msg_8" }, { "webhook-timestamp": String(timestamp + 1) }, { "webhook-timestamp": `${timestamp} ` }])
        await expect(readWebhook({ body, headers: { ...headers, ...wrong }, appSecret })).rejects.toBeInstanceOf(SignatureError);
    }),
    { numRuns },
  );
});

test("any headers are refused as a signature, and cause no other error", async () => {
  const names = fc.constantFrom("webhook-id", "webhook-timestamp", "webhook-signature", "X-Hub-Signature-256", "x-hub-signature-256");
  const signature = fc.oneof(
    text,
    fc.base64String().map((one) => `v1,${one}`),
    fc.stringMatching(/^sha256=[0-9a-f]{62,66}$/),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, fc.oneof(signature, fc.array(signature))), text, async (headers, body) => {
      await expect(readWebhook({ body, headers, appSecret: "s3cret" })).rejects.toBeInstanceOf(SignatureError);
    }),
    { numRuns },
  );
});
