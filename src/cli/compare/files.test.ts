/** Tests the files of a comparison: rules for allowed differences, and recordings as HAR. */
import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "#harness/server";
import { buildRegistry } from "#main";
import { type HarEntry, HarFile, type SecretPlace } from "./har.ts";
import { missingSecrets, type RecordedRequest, readHar } from "./read-har.ts";
import { ownRules, type Rule, readRules, ruleFor } from "./rules.ts";

const fileOf = (text: string): string => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, text);
  return path;
};

describe("rules", () => {
  const registry = buildRegistry();
  const form = { address: "GET /{id}", names: ["readPage", "readUser"] };
  const found = (pattern: string, path: string): boolean => ruleFor([{ path: pattern, may_differ: "anything" }], form, path.split(".")) !== undefined;

  test("apply to one place, to any one step, or to any number of steps", () => {
    for (const [pattern, path] of [
      ["status", "status"],
      ["body.data.*.id", "body.data.0.id"],
      ["body.**.id", "body.id"],
      ["body.**.id", "body.a.b.id"],
      ["body.**", "body"],
      ["body.**", "body.a.b"],
      ["body.**.paging.*", "body.a.paging.next"],
    ] as const)
      expect({ pattern, path, found: found(pattern, path) }).toEqual({ pattern, path, found: true });
    for (const [pattern, path] of [
      ["status", "status.a"],
      ["status.a", "status"],
      ["body.data.*.id", "body.data.id"],
      ["body.data.*.id", "body.data.0.name"],
      ["body.*", "body"],
      ["body.*", "body.a.b"],
      ["body.**.id", "body.a.ids"],
      ["body.**.id", "header.id"],
    ] as const)
      expect({ pattern, path, found: found(pattern, path) }).toEqual({ pattern, path, found: false });
  });

  test("apply to every operation, or to one by its name or its address; the last matching rule counts", () => {
    const of = (...operations: (string | undefined)[]): number | undefined => {
      const rules = operations.map((operation): Rule => ({ ...(operation === undefined ? {} : { operation }), path: "status", may_differ: "value" }));
      const rule = ruleFor(rules, form, ["status"]);
      return rule === undefined ? undefined : rules.indexOf(rule);
    };
    expect([of(undefined), of("readUser"), of("GET /{id}"), of("other"), of("GET"), of(undefined, "readPage", "other")]).toEqual([
      ...[0, 0, 0, undefined, undefined],
      1,
    ]);
    expect(ruleFor(ownRules, form, ["body", "data", "0", "stream_key"])).toMatchObject({ may_differ: "value" });
    expect(ruleFor(ownRules, form, ["body", "0", "headers", "0", "value"])).toMatchObject({ may_differ: "anything" });
  });

  test("are read from a list in YAML, and allow any difference unless they say otherwise", async () => {
    const text =
      "- path: status\n- {path: body.a, operation: readPage, may_differ: value}\n- {path: header, operation: 'GET /{id}/custom_labels'}\n- {path: body, operation: POST /other}\n";
    expect(await readRules(fileOf(text), registry)).toEqual([
      { path: "status", may_differ: "anything" },
      { path: "body.a", operation: "readPage", may_differ: "value" },
      { path: "header", operation: "GET /{id}/custom_labels", may_differ: "anything" },
      { path: "body", operation: "POST /other", may_differ: "anything" },
    ]);
  });

  test.each([
    ["a: b", "is not a list of rules"],
    ["[", "cannot be read: "],
    ["- path: status\n- 5", "rule 2 is not a mapping"],
    ["- null", "rule 1 is not a mapping"],
    ["- {path: status, paht: 1}", "rule 1 has the unknown key paht (known: operation, path, may_differ)"],
    ["- {operation: a}", "rule 1 needs a path that begins with status, header or body"],
    ["- {path: statuses}", "rule 1 needs a path that begins with status, header or body"],
    ["- {path: a.status}", "rule 1 needs a path"],
    ["- {path: status, operation: 5}", "rule 1 has an operation that is not text"],
    [
      "- {path: status, operation: listLabel}",
      "rule 1 names the operation listLabel, which does not exist: write a name of docs/reference/operations.md",
    ],
    [
      "- path: body\n- {path: status, operation: GET /v26.0/2001/custom_labels}",
      "rule 2 names the address GET /v26.0/2001/custom_labels, which no request has",
    ],
    [
      "- {path: status, operation: 'GET /{page_id}/custom_labels'}",
      "rule 1 names the address GET /{page_id}/custom_labels, which no request has: write GET /{id}/custom_labels",
    ],
    ["- {path: status, may_differ: nothing}", "rule 1 needs the may_differ value or anything"],
  ])("%j: %s", async (text, problem) => {
    await expect(readRules(fileOf(text), registry)).rejects.toThrow(problem);
  });
});

describe("a recording", () => {
  const entry = (url = "http://a:1/x") => ({ request: { method: "GET", url, headers: [] }, response: { status: 200 } }) as unknown as HarEntry;
  const har = (log: unknown) => fileOf(JSON.stringify({ log }));
  const urlsIn = (path: string) => readHar(path).requests.map(({ url }) => url);

  test("belongs to the named server, otherwise to the one in the file, otherwise to that of the first request", () => {
    const entries = [entry(), entry("http://base/x"), entry("http://up/x")];
    const path = har({ entries, _upstream: "http://up" });
    expect(readHar(path, "http://base").base).toBe("http://base");
    expect(readHar(path).base).toBe("http://up");
    expect(urlsIn(path)).toEqual(["http://a:1/x", "http://base/x", "http://up/x"]);
    expect(readHar(har({ entries: [entry()] })).base).toBe("http://a:1");
  });

  test.each([
    ["cannot be read: ", "{"],
    ...["{}", "null", "[]", '{"log":null}', '{"log":{"entries":[]}}', '{"log":{"entries":{"0":1}}}'].map((text) => [
      "is not a HAR file, or contains no request",
      text,
    ]),
    ["log.entries[1].request has no valid method", JSON.stringify({ log: { entries: [entry(), { ...entry(), request: { url: "http://a" } }] } })],
    ["log.entries[0].request has no valid method", JSON.stringify({ log: { entries: [{ request: { ...entry().request, method: "GET /x\r\n" } }] } })],
    ["log.entries[1].request has no valid url", JSON.stringify({ log: { entries: [entry(), entry("a")] } })],
    ...[{}, null, 5, { request: null }].map((one) => ["log.entries[0].request has no valid method", JSON.stringify({ log: { entries: [one] } })]),
  ])("%s: %s", (problem = "", text = "") => {
    expect(() => readHar(fileOf(text))).toThrow(problem);
  });

  test("without a request to that server is refused, and the error names the servers in it", () => {
    const path = har({ entries: [entry(), entry("http://b:2/x?y"), entry()] });
    expect(() => readHar(path, "http://a:11")).toThrow("contains no request to http://a:11, only requests to http://a:1, http://b:2");
    expect(() => readHar(path, "http://b:2/")).not.toThrow();
  });

  test("names a place of each secret that has no value", () => {
    const place = (secret: string, name: string) => ({ in: "query", name, secret }) as SecretPlace;
    const requests = [[place("secret-1", "a"), place("secret-2", "b")], [], [place("secret-1", "c")]].map(
      (secrets) => ({ secrets }) as unknown as RecordedRequest,
    );
    const recording = { requests, base: "" };
    expect(missingSecrets(recording, new Map())).toEqual([place("secret-1", "a"), place("secret-2", "b")]);
    expect(missingSecrets(recording, new Map([["secret-1", "x"]]))).toEqual([place("secret-2", "b")]);
  });

  test("can be read after each of its entries, and only by its owner", () => {
    const path = join(temporaryFolder(), "recorded.har");
    const file = new HarFile(path, "1.2.3", "http://up");
    const sizes = [file.size];
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      log: { version: "1.2", creator: { name: "plaza record", version: "1.2.3" }, _upstream: "http://up", entries: [] },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const url of ["http://up/1", "http://up/2", "http://up/3"]) {
      file.add(entry(url));
      sizes.push(file.size);
      expect(urlsIn(path).at(-1)).toBe(url);
      expect(urlsIn(path)).toHaveLength(sizes.length - 1);
      // The size counts all written bytes except the end of the JSON, which the next entry overwrites.
      expect(file.size).toBe(statSync(path).size - "\n]}}\n".length);
    }
    expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes);
    file.close();
  });
});

describe("a recording of another program", () => {
  const FORM = "application/x-www-form-urlencoded";
  const PARTS = "multipart/form-data; boundary=----WebKitFormBoundaryX";
  interface Given {
    readonly headers?: unknown;
    readonly url?: string;
    readonly postData?: unknown;
    readonly response?: unknown;
  }
  const read = ({ headers = [], url = "http://a/x", postData, response = null }: Given, before = ""): RecordedRequest =>
    readHar(fileOf(before + JSON.stringify({ log: { entries: [{ request: { method: "POST", url, headers, postData }, response }] } })))
      .requests[0] as RecordedRequest;
  const bodyOf = (postData: unknown, type?: string): string =>
    read({ postData, headers: type === undefined ? [] : [{ name: "Content-Type", value: type }] }).body.toString("latin1");

  test("may begin with a byte order mark, and have null or nothing instead of an object", () => {
    expect(read({}, "\uFEFF").url).toBe("http://a/x");
    for (const nothing of [null, undefined]) {
      const request = read({ headers: nothing, postData: nothing, response: nothing });
      expect({ ...request, body: String(request.body) }).toEqual({
        ...{ method: "POST", url: "http://a/x", headers: [], body: "", status: undefined, responseText: "", secrets: [] },
      });
      expect(read({ response: { status: 201, content: nothing } })).toMatchObject({ status: 201, responseText: "" });
    }
    // The recording has no response to this request, because the request was interrupted.
    expect(read({ response: { status: 0, content: { size: 0 } } }).status).toBeUndefined();
    expect(read({ response: { status: 200, content: { text: "eyJhIjoxfQ==", encoding: "base64" } } }).responseText).toBe('{"a":1}');
  });

  test("has headers as text or numbers, and is refused with the name of a header that cannot be sent", () => {
    const headers = [
      { name: "X-A", value: 5 },
      { name: ":path", value: "/x" },
      { name: "X-L", value: "é" },
    ];
    expect(read({ headers }).headers).toEqual([
      ["X-A", "5"],
      [":path", "/x"],
      ["X-L", "é"],
    ]);
    for (const wrong of [
      { name: "X-B", value: "a\nb" },
      { name: "x bad", value: "1" },
      { name: "", value: "1" },
      { name: "X-U", value: "日本" },
      { name: "X-N", value: null },
    ])
      expect(() => read({ headers: [...headers, wrong] })).toThrow(
        `log.entries[0].request.headers[3] cannot be sent: {"name":${JSON.stringify(wrong.name)}`,
      );
    expect(() => read({ headers: [null] })).toThrow("log.entries[0].request.headers[0] cannot be sent: {}");
  });

  test("has addresses with characters that must be encoded", () => {
    expect(read({ url: "http://a/ä b?c=%41\n#part" }).url).toBe("http://a/%C3%A4%20b?c=%41%0A");
  });

  test("has the recorded body, in any of the forms that HAR allows", () => {
    expect(bodyOf({ text: "ä" })).toBe(Buffer.from("ä").toString("latin1"));
    for (const name of ["encoding", "_encoding"]) {
      expect(bodyOf({ text: "eyJ0aXRsZSI6InA0In0=", [name]: "base64" })).toBe('{"title":"p4"}');
      expect(bodyOf({ text: "AP8=", [name]: "base64" })).toBe("\u0000\u00ff");
    }
    for (const text of ["", null, undefined]) {
      expect(bodyOf({ text, params: [{ name: "title", value: "p 1&" }, { name: "b" }] }, FORM)).toBe("title=p+1%26&b=");
      expect(bodyOf({ text, params: [{ name: "a", value: "1" }], mimeType: `${FORM}; charset=UTF-8` })).toBe("a=1");
      expect(bodyOf({ text, params: [] }, FORM)).toBe("");
    }
    // The field `text` is the body that was sent, even if the field `params` has the same values.
    expect(bodyOf({ text: "a=%31", params: [{ name: "a", value: "1" }] }, FORM)).toBe("a=%31");
    const line = "------WebKitFormBoundaryX";
    expect(bodyOf({ params: [{ name: "title", value: "p6" }] }, PARTS)).toBe(
      `${line}\r\nContent-Disposition: form-data; name="title"\r\n\r\np6\r\n${line}--\r\n`,
    );
    expect(bodyOf({ params: [{ name: 'a"b', value: "1", fileName: "f.txt", contentType: "text/plain" }] }, PARTS)).toBe(
      `${line}\r\nContent-Disposition: form-data; name="a%22b"; filename="f.txt"\r\nContent-Type: text/plain\r\n\r\n1\r\n${line}--\r\n`,
    );
  });

  test("has a body that its program unpacked without its encoding, and a compressed one with it", () => {
    const headers = [{ name: "Content-Encoding", value: "gzip" }];
    expect(read({ headers, postData: { text: '{"a":1}' } }).headers).toEqual([]);
    const packed = gzipSync('{"a":1}');
    const request = read({ headers, postData: { text: packed.toString("base64"), encoding: "base64" } });
    expect({ headers: request.headers, body: request.body.equals(packed) }).toEqual({ headers: [["Content-Encoding", "gzip"]], body: true });
  });

  test.each<[problem: string, postData: unknown, type: string]>([
    ["has no body: plaza record does not record bytes that are neither text nor multipart", { text: "…" }, "application/octet-stream"],
    ['cannot be decoded with the encoding "base64"', { text: "a&b", encoding: "base64" }, ""],
    ['cannot be decoded with the encoding "gzip"', { text: "a", encoding: "gzip" }, ""],
    ['has the file "f.png" without its content', { params: [{ name: "source", fileName: "f.png" }] }, PARTS],
    ["has params for multipart/form-data, but the content type has no boundary", { params: [{ name: "a", value: "1" }] }, "multipart/form-data"],
    ["has params but no text", { params: [{ name: "a", value: "1" }] }, "application/json"],
  ])("with a body that cannot be sent unchanged is refused: %s", (problem, postData, type) => {
    expect(() => bodyOf(postData, type)).toThrow(`cannot be used: log.entries[0].request.postData ${problem}`);
  });
});
