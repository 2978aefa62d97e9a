import { expect, test } from "bun:test";
import fc from "fast-check";
import { errorFields, shownFields } from "./log.ts";

test("a field has no secret and a maximum length, whatever it contains", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9]{20}$/), fc.string({ unit: "binary", maxLength: 20_000 }), (secret, more) => {
      const body = JSON.stringify({ access_token: secret, more });
      const shown = shownFields({
        body,
        object: { app_secret: secret, more },
        url: `https://a/?access_token=${secret}`,
        more,
        count: 3,
        none: undefined,
      });
      expect(JSON.stringify(shown)).not.toContain(secret);
      expect(shown).toMatchObject({ url: "https://a/?access_token=…", count: 3 });
      for (const value of Object.values(shown)) if (typeof value === "string") expect(value.length).toBeLessThan(3 * 8_192 + 2);
    }),
  );
});

test("an error has its message once, and the place in the code", () => {
  const error = new Error('Unexpected {"access_token":"s3cret"}', { cause: new Error("access%5Ftoken=s3cret") });
  const shown = shownFields(errorFields(error));
  expect(shown).toMatchObject({ error: 'Unexpected {"access_token":"…"}', error_name: "Error", cause: "access%5Ftoken=…" });
  expect(shown.stack).toMatch(/^ {4}at .*log\.test\.ts/);
  expect(JSON.stringify(shown)).not.toContain("s3cret");
});

test("a field of 8,192 characters is complete; a longer one is cut, with an ellipsis", () => {
  const shown = (length: number) => (shownFields({ text: "a".repeat(length) }) as { text: string }).text;
  expect(shown(8_192)).toBe("a".repeat(8_192));
  expect(shown(8_193)).toBe(`${"a".repeat(8_192)}…`);
});

test("objects are shown as JSON, cut like texts; other values are unchanged", () => {
  expect(shownFields({ list: [1, { a: 2 }], none: null, missing: undefined, count: 3, isOn: false })).toEqual({
    ...{ list: '[1,{"a":2}]', none: null, missing: undefined, count: 3, isOn: false },
  });
  expect((shownFields({ list: ["a".repeat(8_192)] }) as { list: string }).list).toBe(`["${"a".repeat(8_190)}…`);
});

test("a thrown value that is not an error is shown as text; a cause only if it is an error; a stack only by its places", () => {
  expect(errorFields("no")).toEqual({ error: "no" });
  expect(errorFields(undefined)).toEqual({ error: "undefined" });
  expect(errorFields(new TypeError("no", { cause: "text" }))).toEqual({ error: "no", error_name: "TypeError", stack: expect.any(String) });
  const many = Object.assign(new Error("two\nlines"), { stack: "Error: two\nlines\n    at a (b:1:2)\n    at c (d:3:4)" });
  expect(errorFields(many).stack).toBe("    at a (b:1:2)\n    at c (d:3:4)");
  const bare = Object.assign(new Error("no"), { stack: undefined });
  expect(errorFields(bare)).toEqual({ error: "no", error_name: "Error", stack: "" });
});
