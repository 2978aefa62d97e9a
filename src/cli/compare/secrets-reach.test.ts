/** Checks the depth and size to which secrets in a request are found. */
import { describe, expect, test } from "bun:test";
import { changeParts } from "./multipart.ts";
import { SecretNames, type Sent, secretPlaces, withoutSecrets, withSecrets } from "./secrets.ts";

const TOKEN = "s3cret-token-1";
const sentAs = (body: string, target = "/", headers: Sent["headers"] = []): Sent => ({ target, headers, body });

test("a sent value of eight characters is removed everywhere; a shorter one may be a coincidence", () => {
  const shown = (value: string): string => {
    const names = new SecretNames();
    secretPlaces(sentAs(`access_token=${value}`), names);
    return withoutSecrets(sentAs(`it said ${value} to me`), names.hide).body;
  };
  expect(shown("12345678")).toBe("it said … to me");
  expect(shown("1234567")).toBe("it said 1234567 to me");
});

test("equal values have the same name, and each new value gets the next number", () => {
  const names = new SecretNames();
  expect(["a", "b", "a", "c", "b"].map((value) => names.of(value))).toEqual(["secret-1", "secret-2", "secret-1", "secret-3", "secret-2"]);
});

/** Secrets are found in JSON inside JSON, up to this depth. */
const nested = (depth: number, name = "code"): string => {
  let text = JSON.stringify({ [name]: TOKEN });
  for (let around = 0; around < depth; around++) text = JSON.stringify({ inner: text });
  return text;
};

test("JSON and forms are searched eight texts deep", () => {
  const placesOf = (body: string) => secretPlaces(sentAs(body), new SecretNames()).length;
  expect([0, 1, 8, 9].map((depth) => placesOf(nested(depth)))).toEqual([1, 1, 1, 0]);
  const form = (depth: number): string => (depth === 0 ? `code=${TOKEN}` : `inner=${encodeURIComponent(form(depth - 1))}`);
  expect([0, 1, 8, 9].map((depth) => placesOf(form(depth)))).toEqual([1, 1, 1, 0]);
});

describe("an address", () => {
  test("loses secrets after a second question mark, and in its path", () => {
    expect(withoutSecrets(sentAs("", `/x?a=1&code=${TOKEN}`)).target).toBe("/x?a=1&code=%E2%80%A6");
    for (const target of [`/x?a=1?access_token=${TOKEN}`, `/x?access_token=${TOKEN}?b=2`, `/x?a=https%3A%2F%2Fb%2F%3Fcode%3D${TOKEN}`])
      expect(withoutSecrets(sentAs("", target)).target).not.toContain(TOKEN);
    expect(withoutSecrets(sentAs("", "/x")).target).toBe("/x");
    expect(withoutSecrets(sentAs("", "/x?")).target).toBe("/x?");
  });

  test("in a text is searched after its question mark", () => {
    const names = (body: string) => secretPlaces(sentAs(body), new SecretNames()).map(({ name }) => name);
    expect(names(`https://a/b?code=${TOKEN}&x=1`)).toEqual(["code"]);
    expect(names(`a=1&code=${TOKEN}?x`)).toEqual(["code"]);
    expect(names(`code=${TOKEN}?pin=1234`)).toEqual(["code"]);
    expect(names("no form at all, code")).toEqual([]);
    expect(names("code=&pin=")).toEqual([]);
  });
});

test("a value is restored only in the place and kind of place from which it was removed", () => {
  const sent = sentAs(`code=${TOKEN}-body`, `/x?code=${TOKEN}-query&pin=${TOKEN}-pin`, [
    ["authorization", `Bearer ${TOKEN}-header`],
    ["x-other", "…"],
  ]);
  const names = new SecretNames();
  const places = secretPlaces(sent, names);
  expect(places.map((place) => `${place.in} ${place.name}`)).toEqual(["query code", "query pin", "header authorization", "body code"]);
  const values: Readonly<Record<string, string>> = { "secret-1": "q", "secret-2": "p", "secret-3": "h", "secret-4": "b" };
  const shown = withoutSecrets(sent, names.hide);
  expect(withSecrets(shown, places, (name) => values[name])).toEqual(
    sentAs("code=b", "/x?code=q&pin=p", [
      ["authorization", "Bearer h"],
      ["x-other", "…"],
    ]),
  );
  // If a person has replaced the mark of a secret in the recording by a value, this value is sent.
  expect(withSecrets(sentAs("code=own"), [{ in: "body", name: "code", secret: "secret-1" }], () => "given").body).toBe("code=own");
  // A value for a secret that the recording does not have changes nothing.
  expect(withSecrets(sentAs("code=…"), [{ in: "query", name: "code", secret: "secret-1" }], () => "given").body).toBe("code=…");
  expect(withSecrets(sentAs("", "/x?"), [], () => "given").target).toBe("/x");
});

test("a text without a restored value stays byte for byte, with spaces and order", () => {
  for (const body of ['{ "a": "b",\n "c": 1.0 }', "a=b+c&d=%41", '[ "x" ]', "{ no JSON"])
    expect(withSecrets(sentAs(body), [], () => "given").body).toBe(body);
});

test("an empty value is not a secret, in JSON or in parts", () => {
  const headers: Sent["headers"] = [["content-type", "multipart/form-data; boundary=b"]];
  const part = (text: string) => `--b\r\nContent-Disposition: form-data; name="code"\r\n\r\n${text}\r\n--b--\r\n`;
  expect(secretPlaces(sentAs('{"code":""}'), new SecretNames())).toEqual([]);
  expect(secretPlaces(sentAs(`--b\r\nContent-Disposition: form-data; name="code"\r\n\r\n\r\n--b--\r\n`, "/", headers), new SecretNames())).toEqual(
    [],
  );
  expect(withoutSecrets(sentAs(part(TOKEN), "/", headers)).body).toBe(
    part("").replace("\r\n\r\n\r\n", `\r\n\r\n${Buffer.from("…").toString("latin1")}\r\n`),
  );
});

test("names of parts can be quoted or bare; other content and unchanged parts stay", () => {
  const headers: Sent["headers"] = [["Content-Type", "multipart/form-data; boundary=b"]];
  const body = [
    'preamble\r\n--b\r\nContent-Disposition: form-data; name="a \\" b"\r\n\r\none',
    "--b\r\nContent-Disposition: form-data; name=bare\r\n\r\ntwo",
    "--b\r\nContent-Disposition: form-data; name=c\r\n\r\nthree",
    "--b--\r\nepilogue",
  ].join("\r\n");
  const seen: string[] = [];
  const change = (name: string, text: string) => {
    seen.push(`${name}: ${text}`);
    return name === "bare" ? "ZWEI ä" : text;
  };
  expect(changeParts(body, headers, change)).toBe(body.replace("two", Buffer.from("ZWEI ä").toString("latin1")));
  expect(seen).toEqual(['a " b: one', "bare: two", "c: three"]);
});

test("nothing is recorded of parts that cannot be parsed", () => {
  const headers: Sent["headers"] = [["Content-Type", "multipart/form-data; boundary=b"]];
  for (const body of [`--b\n\n${TOKEN}\n--b--`, `--b\r\nContent-Disposition: form-data\r\n\r\n${TOKEN}\r\n--b--`, TOKEN])
    expect(withoutSecrets(sentAs(body, "/", headers)).body).toBe("…");
});
