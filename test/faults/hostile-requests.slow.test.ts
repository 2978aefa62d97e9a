/**
 * Sends generated bad requests, and checks that there is no 5xx, that every response is a declared error with a trace id, and that memory stays flat.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { type Server, startServer, worldFile } from "#harness/server";
import { cafe } from "#harness/worlds";
import { buildRegistry } from "#main";

const REQUESTS = tries(5_000, 100_000);
const AT_ONCE = 16;

const anyText = fc.string({ unit: "binary", maxLength: 60 });
const asciiText = fc.string({ unit: "grapheme-ascii", maxLength: 60 });
const id = fc.oneof(
  fc.constantFrom("2001", "2002", "5001", "5101", "9001", "1001", "me", "0", "007", "-1", "9223372036854775807", "9223372036854775808", "1e3", "١٢٣"),
  fc.bigInt({ min: 1n, max: 2n ** 64n }).map(String),
  asciiText,
);
const rawByte = fc.integer({ min: 0x21, max: 0x7e }).map((unit) => String.fromCharCode(unit));
const encoded = fc.oneof(
  anyText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom("%", "%ZZ", "%ff", "%00", "%ed%a0%80", "%C0%AF", "%u0041", "+", ""),
  asciiText.map(encodeURIComponent),
);
const token = fc.oneof(fc.constantFrom("page", "bar", "app", "expired", "no-scope", "1001|s3cret", "1001|", "|", "x".repeat(3_000)), encoded);
const cursor = fc.oneof(fc.constantFrom("AAAA", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA", "null"), encoded);
const edge = fc.oneof(
  fc.constantFrom("custom_labels", "label", "personas", "", "debug_token", "required_actions", "insights", "tags", "__proto__", "constructor"),
  encoded,
);
const version = fc.oneof(fc.constantFrom("v26.0", "v20", "v99.0", "v", "V26.0", "v26.00", "", "microblog/v1.0", "app", "ads"), encoded);
const slash = fc.constantFrom("/", "//", "/./", "/../", "/%2f");

const path = fc
  .tuple(slash, version, slash, id, slash, edge, fc.option(encoded))
  .map(([a, v, b, i, c, e, more]) => `${a}${v}${b}${encodeURIComponent(String(i).toWellFormed())}${c}${e}${more === null ? "" : `/${more}`}`);

const name = fc.oneof(
  fc.constantFrom(
    "access_token",
    "oauth_token",
    "fields",
    "limit",
    "before",
    "after",
    "user",
    "name",
    "method",
    "ids",
    "batch",
    "migrations_override",
    "metric",
    "input_token",
    "a[b]",
    "a[]",
    "a[b][c]",
    "__proto__[x]",
    "[",
    "appsecret_proof",
  ),
  encoded,
);
const value = fc.oneof(
  token,
  cursor,
  encoded,
  fc.constantFrom(
    "page{id,name}",
    "a{b{c{d{e{f{g{h{i}}}}}}}}",
    "name.limit(1)",
    "-1",
    "1e9",
    "[]",
    "{}",
    '{"a":1}'.replaceAll('"', "%22"),
    "delete",
    "0",
    "100000",
  ),
);
const query = fc.array(fc.tuple(name, value), { maxLength: 8 }).map((pairs) => pairs.map(([n, v]) => `${n}=${v}`).join("&"));

const json = fc.oneof(
  fc.json({ maxDepth: 6, stringUnit: "binary" }),
  fc.constantFrom(
    '{"page_label_name":"\\u0000"}',
    '{"page_label_name":"\\ud800"}',
    "{",
    '{"a":',
    "[]",
    "null",
    '"x"',
    "1".repeat(400),
    '{"user":1e400}',
    '{"__proto__":{"x":1}}',
    `${'{"a":'.repeat(300)}1${"}".repeat(300)}`,
    `[${"[".repeat(50_000)}`,
  ),
  anyText,
);
const body = fc.oneof(
  json.map((text) => Buffer.from(text)),
  query.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(0)),
  anyText.map((text) => Buffer.from(`--b\r\nContent-Disposition: form-data; name="${text.replace(/[\r\n"]/g, "")}"\r\n\r\n${text}\r\n--b--\r\n`)),
);
const contentType = fc.oneof(
  fc.constantFrom(
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "text/plain",
    "application/json; charset=utf-16",
    "",
  ),
  fc.string({ unit: rawByte, maxLength: 30 }),
);
const authorization = fc.oneof(
  fc.constantFrom("Bearer page", "Bearer bar", "Bearer", "Basic eDp5", "Bearer  page ", "bearer page", "OAuth app", "Bearer a b"),
  fc.string({ unit: rawByte, maxLength: 40 }),
);
const headers = fc.record(
  {
    authorization,
    "content-type": contentType,
    "if-none-match": fc.string({ unit: rawByte, maxLength: 30 }),
    "x-api-version": fc.string({ unit: rawByte, maxLength: 10 }),
    "x-forwarded-host": fc.string({ unit: rawByte, maxLength: 30 }),
  },
  { requiredKeys: [] },
);
const request = fc.record({ method: fc.constantFrom("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"), path, query, headers, body });
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

const declared = new Set(
  [...buildRegistry().errors.values()].flatMap((entry) => [
    `${entry.status} ${entry.code}`,
    `${entry.flatStatus ?? entry.status} ${entry.flatCode ?? entry.code}`,
  ]),
);

async function send(server: Server, { method, path: address, query: text, headers: sent, body: bytes }: Request): Promise<void> {
  const carries = method !== "GET" && method !== "HEAD";
  const response = await fetch(`${server.base_url}${address}?${text}`, {
    method,
    headers: sent,
    ...(carries ? { body: bytes } : {}),
    redirect: "manual",
  });
  const responseText = await response.text();
  const shown = `${method} ${address}?${text} ${JSON.stringify(sent)} ${bytes.toString("base64").slice(0, 200)} → ${response.status} ${responseText.slice(0, 300)}`;
  if (response.status >= 500) throw new Error(`a server error: ${shown}`);
  if (response.status < 400 || method === "HEAD") return;
  const parsed = JSON.parse(responseText);
  const error = parsed.error ?? parsed;
  if (!declared.has(`${response.status} ${error.code}`) || typeof error.message !== "string") throw new Error(`an undeclared error: ${shown}`);
  if (error.pftrace_id === undefined || error.pftrace_id !== response.headers.get("x-pf-trace-id")) throw new Error(`no trace id: ${shown}`);
}

/** The number of requests for warming up: a new server takes memory for its code, its logs and the first rounds of the garbage collector. */
const WARM_UP_REQUESTS = 10_000;

/** The resident memory of the server, in MB. */
const memoryOf = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

test.each(["SQLite", "PostgreSQL"])(
  `${REQUESTS} generated bad requests on %s`,
  async (kind) => {
    const data = kind === "SQLite" ? ":memory:" : await (await sharedPostgres()).newDatabase();
    const server = await startServer(["--data", data, "--world", worldFile(cafe)]);
    const seed = Math.floor(performance.timeOrigin) % 1_000_000;
    console.log(`seed ${seed}`);
    const marks: number[] = [];
    for (let sent = 0; sent < REQUESTS; sent += 1_000) {
      const requests = fc.sample(request, { seed: seed + sent, numRuns: Math.min(1_000, REQUESTS - sent) });
      for (let i = 0; i < requests.length; i += AT_ONCE) await Promise.all(requests.slice(i, i + AT_ONCE).map((one) => send(server, one)));
      marks.push(memoryOf(server.pid));
    }
    console.log(`memory after each 1,000, MB: ${marks.map((mark) => mark.toFixed(0)).join(" ")}`);
    // At the end, the server uses about as much memory as after half of the requests, when all code had run; the garbage collector may keep some
    // more.
    const settled = marks[Math.floor(marks.length / 2)] as number;
    expect(marks.at(-1)).toBeLessThan(settled * 1.2 + (REQUESTS > WARM_UP_REQUESTS ? 10 : 40));
    expect(await server.stop()).toBe(0);
  },
  3_600_000,
);
