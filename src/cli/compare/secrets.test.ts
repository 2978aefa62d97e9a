import { expect, test } from "bun:test";
import fc from "fast-check";
import { SecretNames, type Sent, secretPlaces, withoutSecrets, withSecrets } from "./secrets.ts";

const TOKEN = "s3cret-token-1";

/** Any bytes but the boundary's: each character is one. */
const anyBytes = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("latin1").replaceAll("--b", ""));

const multipart = (parts: readonly (readonly [string, string])[], type = "multipart/form-data; boundary=b"): Sent => ({
  target: "/v26.0/2001/uploads",
  headers: [["Content-Type", type]],
  body: `${parts.map(([name, text]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`).join("")}--b--\r\n`,
});

test("a part of a secret's name is taken out and put in again; every other byte stays", () => {
  fc.assert(
    fc.property(anyBytes, anyBytes, fc.constantFrom("access_token", "x[appsecret_proof]"), (file, other, name) => {
      const sent = multipart([
        ["file", file],
        [name, TOKEN],
        ["page_label_name", other],
      ]);
      const places = secretPlaces(sent, new SecretNames());
      expect(places).toEqual([{ in: "body", name, secret: "secret-1" }]);
      const shown = withoutSecrets(sent);
      expect(shown.body).not.toContain(TOKEN);
      expect(withSecrets(shown, places, () => TOKEN).body).toBe(sent.body);
    }),
  );
});

test("a secret inside a part is taken out too", () => {
  const batch = JSON.stringify([{ method: "GET", relative_url: `me?access_token=${TOKEN}` }]);
  expect(withoutSecrets(multipart([["batch", batch]])).body).not.toContain(TOKEN);
});

test("nothing is kept of multipart without a boundary", () => {
  const sent = multipart([["access_token", TOKEN]], "multipart/form-data");
  expect(secretPlaces(sent, new SecretNames())).toEqual([]);
  expect(withoutSecrets(sent).body).toBe("…");
});
