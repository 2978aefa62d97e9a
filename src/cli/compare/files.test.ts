/** The files of a comparison: rules of what may differ, and recordings as HAR. */
import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { buildRegistry } from "#main";
import { bytesOfPost, type HarEntry, HarFile, missingSecrets, readHar, type SecretPlace } from "./har.ts";
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

  test("speak of one place, of any one step, or of any number of them", () => {
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

  test("are of every operation, of one by its name, or by its address; the last one counts", () => {
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

  test("are read from a list in YAML, and may differ in anything unless they say else", async () => {
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
    ["a: b", "is no list of rules"],
    ["[", "cannot be read: "],
    ["- path: status\n- 5", "rule 2 is no mapping"],
    ["- null", "rule 1 is no mapping"],
    ["- {path: status, paht: 1}", "rule 1 has the unknown key paht (known: operation, path, may_differ)"],
    ["- {operation: a}", "rule 1 needs a path that begins with status, header or body"],
    ["- {path: statuses}", "rule 1 needs a path that begins with status, header or body"],
    ["- {path: a.status}", "rule 1 needs a path"],
    ["- {path: status, operation: 5}", "rule 1 has an operation that is no text"],
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
    ["- {path: status, may_differ: nothing}", "rule 1 may_differ is neither value nor anything"],
  ])("%j: %s", async (text, problem) => {
    await expect(readRules(fileOf(text), registry)).rejects.toThrow(problem);
  });
});

describe("a recording", () => {
  const entry = (url = "http://a:1/x") => ({ request: { method: "GET", url, headers: [] }, response: { status: 200 } }) as unknown as HarEntry;
  const har = (log: unknown) => fileOf(JSON.stringify({ log }));

  test("is of the server that is named, else of the one that it names, else of that of its first request", () => {
    const entries = [entry(), entry("http://base/x"), entry("http://up/x")];
    const path = har({ entries, _upstream: "http://up" });
    expect(readHar(path, "http://base").base).toBe("http://base");
    expect(readHar(path)).toEqual({ entries, base: "http://up" });
    expect(readHar(har({ entries: [entry()] })).base).toBe("http://a:1");
  });

  test.each([
    ["cannot be read: ", "{"],
    ["is no HAR file with a request in it", "{}"],
    ["is no HAR file with a request in it", '{"log":{"entries":[]}}'],
    ["is no HAR file with a request in it", '{"log":{"entries":{"0":1}}}'],
    ["log.entries[1]", JSON.stringify({ log: { entries: [entry(), { ...entry(), request: { url: "http://a" } }] } })],
    ["log.entries[1]", JSON.stringify({ log: { entries: [entry(), entry("a")] } })],
    ["log.entries[0]", JSON.stringify({ log: { entries: [{ request: entry().request }] } })],
    ["log.entries[0]", JSON.stringify({ log: { entries: [{}] } })],
  ])("%s", (problem, text) => {
    expect(() => readHar(fileOf(text))).toThrow(problem);
  });

  test("without a request to that server is refused, with the servers that it has requests to", () => {
    const path = har({ entries: [entry(), entry("http://b:2/x?y"), entry()] });
    expect(() => readHar(path, "http://a:11")).toThrow("has no request to http://a:11, but to http://a:1, http://b:2");
    expect(() => readHar(path, "http://b:2/")).not.toThrow();
  });

  test("names a place of each secret whose value is not given", () => {
    const place = (secret: string, name: string) => ({ in: "query", name, secret });
    const entries = [[place("secret-1", "a"), place("secret-2", "b")], undefined, [place("secret-1", "c")]].map((_secrets) => ({
      ...entry(),
      _secrets,
    }));
    const recording = { entries: entries as HarEntry[], base: "" };
    expect(missingSecrets(recording, new Map())).toEqual([place("secret-1", "a"), place("secret-2", "b")] as SecretPlace[]);
    expect(missingSecrets(recording, new Map([["secret-1", "x"]]))).toEqual([place("secret-2", "b")] as SecretPlace[]);
  });

  test("can be read after each of its entries, and by its owner alone", () => {
    const path = join(temporaryFolder(), "recorded.har");
    const file = new HarFile(path, "1.2.3", "http://up");
    const sizes = [file.size];
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      log: { version: "1.2", creator: { name: "plaza record", version: "1.2.3" }, _upstream: "http://up", entries: [] },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const url of ["http://up/ä", "http://up/2", "http://up/3"]) {
      file.add(entry(url));
      sizes.push(file.size);
      expect(readHar(path).entries.at(-1)).toEqual(entry(url));
      expect(readHar(path).entries).toHaveLength(sizes.length - 1);
      // All that was written but the end, which the next entry takes the place of.
      expect(file.size).toBe(statSync(path).size - "\n]}}\n".length);
    }
    expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes);
    file.close();
  });

  test("has bodies as they were sent: as text, as bytes, or taken apart", () => {
    expect(bytesOfPost({ mimeType: "", text: "ä" })).toEqual(Buffer.from("ä"));
    expect(bytesOfPost({ mimeType: "", text: "AP8=", _encoding: "base64" })).toEqual(Buffer.from([0, 255]));
    expect(String(bytesOfPost({ mimeType: "", params: [{ name: "a", value: "1 2" }, { name: "b" }] }))).toBe("a=1+2&b=");
    expect(String(bytesOfPost({ mimeType: "" }))).toBe("");
    expect(String(bytesOfPost({ mimeType: "", text: "", params: [{ name: "a" }] }))).toBe("");
  });
});
