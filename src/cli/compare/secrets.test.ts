import { expect, test } from "bun:test";
import fc from "fast-check";
import { SecretNames, type Sent, secretPlaces, withoutSecrets, withSecrets } from "./secrets.ts";

const TOKEN = "s3cret-token-1";

/** The body has any bytes except those of the boundary; each character stands for one byte. */
const anyBytes = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("latin1").replaceAll("--b", ""));

const multipart = (parts: readonly (readonly [string, string])[], type = "multipart/form-data; boundary=b"): Sent => ({
  target: "/v26.0/2001/uploads",
  headers: [["Content-Type", type]],
  body: `${parts.map(([name, text]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`).join("")}--b--\r\n`,
});

test("a part with a secret's name is removed and restored; every other byte stays", () => {
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

test("a secret inside a part is removed, too", () => {
  const batch = JSON.stringify([{ method: "GET", relative_url: `me?access_token=${TOKEN}` }]);
  expect(withoutSecrets(multipart([["batch", batch]])).body).not.toContain(TOKEN);
});

test("nothing is recorded of multipart without a boundary", () => {
  const sent = multipart([["access_token", TOKEN]], "multipart/form-data");
  expect(secretPlaces(sent, new SecretNames())).toEqual([]);
  expect(withoutSecrets(sent).body).toBe("…");
});

const sentAs = (body: string, target = "/", type = "application/x-www-form-urlencoded"): Sent => ({
  target,
  headers: [["Content-Type", type]],
  body,
});
const OTHER = "0ther-token-22";

test("secrets in a batch's requests, in its forms and in addresses are removed, and restored in their places", () => {
  const batch = JSON.stringify([
    { method: "GET", relative_url: `me?access_token=${TOKEN}&fields=id`, access_token: OTHER },
    { method: "POST", relative_url: `v26.0/2001/x?oauth_token=${OTHER}`, body: `access_token=${TOKEN}&name=a%26b` },
  ]);
  for (const sent of [
    sentAs(new URLSearchParams({ batch, access_token: OTHER }).toString().replaceAll("+", "%20")),
    sentAs(JSON.stringify({ batch: JSON.parse(batch), access_token: OTHER }), "/", "application/json"),
    sentAs(JSON.stringify({ batch, access_token: OTHER }), "/", "application/json"),
    multipart([["batch", batch]]),
    sentAs("", `/?batch=${encodeURIComponent(batch)}&access_token=${TOKEN}&access_token=${OTHER}`),
  ]) {
    const names = new SecretNames();
    const places = secretPlaces(sent, names);
    const shown = withoutSecrets(sent, names.hide);
    expect(decodeURIComponent(JSON.stringify(shown))).not.toMatch(`${TOKEN}|${OTHER}`);
    const values: Record<string, string> = { [names.of(TOKEN)]: TOKEN, [names.of(OTHER)]: OTHER };
    const filled = withSecrets(shown, places, (secret) => values[secret]);
    const read = ({ target, body }: Sent) => [target, body].map(decodeURIComponent);
    expect(read(filled)).toEqual(read(sent));
    // Without a value for a secret, the field with the secret's name stays unchanged.
    expect(withSecrets(shown, places, () => undefined)).toEqual(shown);
  }
});

test("a token of another scheme keeps its scheme; cookies and Basic are removed completely", () => {
  const headers: Sent["headers"] = [
    ["Authorization", `OAuth ${TOKEN}`],
    ["authorization", `Bearer ${TOKEN}`],
    ["Proxy-Authorization", "Basic dXNlcjpwYXNz"],
    ["Cookie", "sid=1; b=2"],
    ["X-Access-Token", TOKEN],
    ["Accept", "*/*"],
  ];
  const sent = { target: "/", headers, body: "" };
  const shown = withoutSecrets(sent);
  expect(shown.headers.map(([, value]) => value)).toEqual(["OAuth …", "Bearer …", "…", "…", "…", "*/*"]);
  const names = new SecretNames();
  const places = secretPlaces(sent, names);
  expect(places.map(({ secret }) => secret)).toEqual(["secret-1", "secret-1", "secret-2", "secret-3", "secret-1"]);
  const values = new Map([TOKEN, "Basic dXNlcjpwYXNz", "sid=1; b=2"].map((value) => [names.of(value), value]));
  expect(withSecrets(shown, places, (secret) => values.get(secret))).toEqual(sent);
});

test("a sent secret is removed everywhere else: in a path, a message, a field of another name, encoded", () => {
  const names = new SecretNames();
  secretPlaces(sentAs("", `/me?access_token=${encodeURIComponent("100|s3cret/x=")}&verify_token=short`), names);
  const hidden = (body: string, target = "/") => withoutSecrets(sentAs(body, target, "text/plain"), names.hide);
  expect(hidden("", "/v26.0/100%7Cs3cret%2Fx%3D/labels").target).toBe("/v26.0/…/labels");
  expect(hidden('{"error":{"message":"the session of 100|s3cret/x= has ended"},"data":["100|s3cret/x="]}').body).toBe(
    '{"error":{"message":"the session of … has ended"},"data":["…"]}',
  );
  // A shorter value is not removed, because it may be in any text by chance.
  expect(hidden("a short text").body).toBe("a short text");
});

test.each(["code", "pin", "api_key", "apiKey", "signed_request", "session_key", "passphrase", "assertion"])(
  "secrets under other servers' names are removed and restored, too: %s",
  (name) => {
    for (const sent of [
      sentAs(`${name}=${TOKEN}&name=vip`, `/v26.0/oauth?${name}=${TOKEN}&fields=id`),
      sentAs(JSON.stringify({ name: "vip", inner: { [name]: TOKEN } }), "/", "application/json"),
      multipart([
        [name, TOKEN],
        ["name", "vip"],
      ]),
    ]) {
      const shown = withoutSecrets(sent);
      expect(JSON.stringify(shown)).not.toContain(TOKEN);
      expect(shown.body).toContain("vip");
      expect(withSecrets(shown, secretPlaces(sent, new SecretNames()), () => TOKEN)).toEqual(sent);
    }
  },
);

test("an error code is not a secret, and neither is a name that only begins like one", () => {
  const body = JSON.stringify({ error: { code: 190, message: "expired" }, codes: "a", pinned: "b", country_code: "DE" });
  expect(withoutSecrets(sentAs(body, "/?country_code=DE", "application/json"))).toEqual(sentAs(body, "/?country_code=DE", "application/json"));
});
