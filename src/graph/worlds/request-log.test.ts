import { expect, test } from "bun:test";
import fc from "fast-check";
import { LogMemory } from "./log-memory.ts";
import { type RequestEntry, RequestLog } from "./request-log.ts";

const entry = (more: Partial<RequestEntry> = {}): RequestEntry => ({
  trace_id: "A1",
  operation: "createLabel",
  method: "POST",
  surface: "base",
  path: "/v26.0/2001/custom_labels",
  query: "limit=5",
  status: 200,
  time: 1_795_000_000_500,
  duration_ms: 1.5,
  app: "1001",
  request_body: '{"a":1}',
  response_body: '{"id":"1"}',
  ...more,
});

test("entries are read as they were added, with any texts", () => {
  const body = fc.string({ unit: "binary", maxLength: 60 });
  const operations = { parts: fc.option(fc.array(fc.constantFrom("createLabel", "unknown"), { minLength: 1 }), { nil: undefined }) };
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          ...operations,
          request_body: body,
          response_body: body,
          app: fc.option(fc.string({ unit: "grapheme", minLength: 1 }), { nil: undefined }),
        }),
      ),
      (given) => {
        const log = new RequestLog();
        const entries = given.map((more, at) => entry({ ...more, trace_id: `A${at}`, status: 200 + at }));
        for (const one of entries) log.adopt(one);
        expect(log.entries()).toEqual(entries.reverse());
      },
    ),
  );
});

test("a reader gets the entries after its position, none twice, even if the log was idle", () => {
  const log = new RequestLog();
  const seen: string[] = [];
  let known = 0;
  const look = (): void => {
    seen.push(...log.from(known).map(({ trace_id }) => trace_id));
    known = log.count;
  };
  const add = (count: number): void => {
    for (let at = 0; at < count; at++) log.add(entry({ trace_id: `A${log.count}` }));
  };
  add(3);
  look();
  log.shrink();
  look();
  add(2);
  look();
  add(1);
  log.shrink();
  log.shrink();
  look();
  add(1);
  look();
  expect(seen).toEqual(Array.from({ length: 7 }, (_, at) => `A${at}`));
  expect(log.count).toBe(7);
});

test("a reader gets the entries after its position, even if the log was cleared while it was idle", () => {
  const log = new RequestLog();
  for (let at = 0; at < 3; at++) log.add(entry({ trace_id: `A${at}` }));
  log.shrink();
  const known = log.count;
  log.clear();
  expect(log.count).toBe(known);
  log.add(entry({ trace_id: "new" }));
  expect(log.from(known).map(({ trace_id }) => trace_id)).toEqual(["new"]);
  expect(log.entries().map(({ trace_id }) => trace_id)).toEqual(["new"]);
});

test("each request wakes all that wait for it, once", async () => {
  const log = new RequestLog();
  const woken: string[] = [];
  const wait = (name: string) => log.next().then(() => woken.push(name));
  const alone = wait("alone");
  log.add(entry());
  await alone;
  const two = [wait("first"), wait("second")];
  expect(woken).toEqual(["alone"]);
  log.add(entry());
  await Promise.all(two);
  log.add(entry());
  expect(woken).toEqual(["alone", "first", "second"]);
});

test("the last thousand requests are kept", () => {
  const log = new RequestLog();
  for (let at = 0; at < 2_500; at++) log.add(entry({ trace_id: `A${at}` }));
  const kept = log.entries().map(({ trace_id }) => trace_id);
  expect({ count: kept.length, newest: kept[0], oldest: kept[999] }).toEqual({ count: 1_000, newest: "A2499", oldest: "A1500" });
});

test("fewer requests with long bodies are kept, always the newest, and each is complete", () => {
  const log = new RequestLog();
  // The log keeps 8 MB, and each request takes 24 kB with three bytes per character.
  const long = "あ".repeat(4_096);
  const lengths = [4_096, 10, 2_000, 4_000, 1];
  for (let at = 0; at < 3_000; at++) {
    const request_body = long.slice(0, lengths[at % lengths.length]);
    log.add(entry({ trace_id: `A${at}`, request_body, response_body: request_body }));
    if (at % 100 > 0) continue;
    const kept = log.entries();
    expect(kept.length).toBeGreaterThan(Math.min(at, 300));
    for (const [back, one] of kept.entries()) {
      const body = long.slice(0, lengths[(at - back) % lengths.length]);
      expect({ trace_id: one.trace_id, isRequestKept: one.request_body === body, isResponseKept: one.response_body === body }).toEqual({
        ...{ trace_id: `A${at - back}`, isRequestKept: true, isResponseKept: true },
      });
    }
  }
});

test("a long text is cut, between two characters or within one", () => {
  const log = new RequestLog();
  const long = "x".repeat(5_000);
  log.add(entry({ path: `/${long}`, query: long, request_body: long, response_body: `${"x".repeat(4_095)}😀` }));
  const [kept] = log.entries();
  const cut = `${"x".repeat(4_096)}…`;
  expect(kept).toMatchObject({ path: `/${cut.slice(1)}`, query: cut, request_body: cut, response_body: `${"x".repeat(4_095)}\uFFFD…` });
});

test("a cut behind a secret does not bring the secret back", () => {
  const log = new RequestLog();
  const long = "x".repeat(5_000);
  log.add(entry({ path: "/me&access_token=s3cret", query: `access%5Ftoken=s3cret&a=${long}`, request_body: `{"access\\u005ftoken":"s3cret${long}` }));
  log.add(entry({ request_body: `a=${encodeURIComponent(JSON.stringify([{ body: `access_token=s3cret${long}` }]))}` }));
  expect(JSON.stringify(log.entries())).not.toContain("s3cret");
});

test("an entry is redacted when it is added: readers only read it", () => {
  const [log, other] = [new RequestLog(), new RequestLog()];
  log.add(entry({ query: "access_token=s3cret", request_body: "verify_token=s3cret", response_body: '{"stream_key":"s3cret"}' }));
  for (const one of log.entries()) other.adopt(one);
  expect(other.entries()).toEqual(log.entries());
  expect(other.entries()[0]).toMatchObject({ query: "access_token=…", request_body: "verify_token=…", response_body: '{"stream_key":"…"}' });
});

test("the log of an idle world keeps its newest requests, and continues with the next one", () => {
  const log = new RequestLog();
  const entry = { operation: "o", method: "GET", surface: "base", path: "/", query: "", status: 200, time: 1, duration_ms: 2, app: undefined };
  const add = (trace_id: string, response_body: string) => log.adopt({ ...entry, trace_id, request_body: "", response_body });
  for (let at = 0; at < 20; at++) add(`t${at}`, "x".repeat(4_000));
  log.shrink();
  const seen = () => log.entries().map(({ trace_id }) => trace_id);
  expect(seen()).toEqual(["t19", "t18", "t17"]);
  add("next", "{}");
  expect(seen()).toEqual(["next", "t19", "t18", "t17"]);
  expect(log.entries()[3]?.response_body).toBe("x".repeat(4_000));
  log.shrink();
  log.clear();
  expect(seen()).toEqual([]);
});

test("an idle log keeps the newest entries up to 16,384 characters, of any text", () => {
  const texts = ["trace_id", "path", "query", "request_body", "response_body", "story"] as const;
  const ofSize = (characters: number, text: (typeof texts)[number]): RequestEntry => {
    const rest = texts.filter((one) => one !== text).reduce((sum, one) => sum + (entry()[one] ?? "").length, 0);
    return entry({ [text]: "x".repeat(characters - 200 - rest) });
  };
  const keptOf = (text: (typeof texts)[number], ...sizes: readonly number[]): number => {
    const log = new RequestLog();
    for (const size of sizes) log.adopt(ofSize(size, text));
    log.shrink();
    return log.entries().length;
  };
  for (const text of texts) {
    expect({ text, exactly: keptOf(text, 8_192, 8_192), oneMore: keptOf(text, 8_192, 8_193) }).toEqual({ text, exactly: 2, oneMore: 1 });
  }
});

/** A log entry that has only the fields which every request has. */
const plain = (more: Partial<RequestEntry> = {}): RequestEntry => entry({ path: "/", query: "", request_body: "", response_body: "", ...more });

test("the steps of at most one request in 10 ms are timed, and of each whose time nobody knows", () => {
  const log = new RequestLog();
  expect([5, 6, 14.9, 15, 24.9, 25].map((nowMs) => log.isNextTimed(nowMs))).toEqual([true, false, false, true, false, true]);
  expect([log.isNextTimed(), log.isNextTimed(), log.isNextTimed(26)]).toEqual([true, true, false]);
});

test("all who wait for the next request learn of it once it can be read, and of no later one", async () => {
  const log = new RequestLog();
  const heard: string[] = [];
  const wait = (name: string) => log.next().then(() => heard.push(`${name} ${log.entries()[0]?.trace_id}`));
  const both = Promise.all([wait("one"), wait("other")]);
  log.add(plain({ trace_id: "A1" }));
  await both;
  log.add(plain({ trace_id: "A2" }));
  const third = wait("third");
  log.adopt(plain({ trace_id: "A3" }));
  await third;
  expect(heard).toEqual(["one A1", "other A1", "third A3"]);
});

test("a text of 4,096 characters is complete, and one without an app has none", () => {
  const log = new RequestLog();
  const text = "x".repeat(4_096);
  log.add(plain({ path: text, query: text, request_body: text, response_body: text, app: undefined }));
  log.add(plain({ path: `${text}x` }));
  expect(log.from(0)).toEqual([
    plain({ path: text, query: text, request_body: text, response_body: text, app: undefined }),
    plain({ path: `${text}…` }),
  ]);
});

test("a cleared entry is not read again, whatever comes after it", () => {
  const log = new RequestLog();
  for (let at = 0; at < 5; at++) log.add(plain({ trace_id: `old${at}` }));
  log.clear();
  expect([log.count, log.entries()]).toEqual([5, []]);
  for (let at = 0; at < 1_000; at++) log.add(plain({ trace_id: `A${at}`, status: at, time: at + 0.5, duration_ms: at / 4 }));
  const kept = log.from(5);
  expect([kept.length, log.count, log.from(1_004).length, log.from(1_005)]).toEqual([1_000, 1_005, 1, []]);
  for (const at of [0, 1, 500, 999]) expect(kept[at]).toEqual(plain({ trace_id: `A${at}`, status: at, time: at + 0.5, duration_ms: at / 4 }));
});

const MEGABYTE = 1024 * 1024;

test("D-272: logs share 32 MB; each has an equal part, and at least 128 kB", () => {
  const memory = new LogMemory();
  const sizes: number[] = [];
  for (let count = 1; count <= 300; count++) sizes.push(memory.join({ resize: () => {} }));
  expect([1, 4, 5, 8, 9, 16, 64, 256, 300].map((count) => [count, (sizes[count - 1] as number) / MEGABYTE])).toEqual([
    ...[
      [1, 8],
      [4, 8],
      [5, 4],
      [8, 4],
      [9, 2],
      [16, 2],
      [64, 0.5],
      [256, 0.125],
      [300, 0.125],
    ],
  ]);
  for (const [at, size] of sizes.slice(0, 256).entries()) expect(size * (at + 1)).toBeLessThanOrEqual(32 * MEGABYTE);
});

test("a log that gives memory to others keeps its newest requests, continues, and grows again when the others have left", () => {
  const memory = new LogMemory();
  const [log, ...others] = Array.from({ length: 257 }, () => new RequestLog(memory)) as [RequestLog, ...RequestLog[]];
  const long = "x".repeat(4_000);
  for (let at = 0; at < 1_000; at++) log.adopt(entry({ trace_id: `A${at}`, response_body: long }));
  expect(log.entries()).toHaveLength(1_000);
  for (const other of others) other.adopt(entry());
  const kept = log.entries().map(({ trace_id }) => trace_id);
  expect({ isSome: kept.length > 5, newest: kept[0], count: log.count }).toEqual({ isSome: true, newest: "A999", count: 1_000 });
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, back) => `A${999 - back}`));
  // The longest log entry fits into the smallest log.
  const most = "あ".repeat(4_096);
  log.adopt(entry({ trace_id: "long", path: most, query: most, request_body: most, response_body: most, story: "x".repeat(16_384) }));
  expect(log.entries()[0]).toMatchObject({ trace_id: "long", path: most, query: most, request_body: most, response_body: most });
  for (const other of others) other.shrink();
  for (let at = 0; at < 1_000; at++) log.adopt(entry({ trace_id: `B${at}`, response_body: long }));
  expect({ kept: log.entries().length, count: log.count, last: log.from(2_000).length }).toEqual({ kept: 1_000, count: 2_001, last: 1 });
});

test("the log of a deleted world takes no memory, and drops later requests", () => {
  const memory = new LogMemory();
  const logs = Array.from({ length: 5 }, () => new RequestLog(memory));
  for (const log of logs) log.adopt(entry());
  expect(memory.shareBytes).toBe(4 * MEGABYTE);
  logs[0]?.close();
  logs[0]?.adopt(entry());
  expect({ share: memory.shareBytes, entries: logs[0]?.entries() }).toEqual({ share: 8 * MEGABYTE, entries: [] });
});
