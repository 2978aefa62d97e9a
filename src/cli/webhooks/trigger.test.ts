/** Tests the requests of `plaza trigger` and `plaza deliveries`, and the lines that these commands print. */
import { describe, expect, spyOn, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as timers from "node:timers/promises";
import { lineOf } from "#control/client/triggered";
import { afterThisTest } from "#harness/cleanup";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { printable } from "../terminal/output.ts";
import { listDeliveries, resendDeliveries } from "./deliveries.ts";
import { readScript } from "./script.ts";
import { trigger } from "./trigger.ts";

const WORLD = "/v1/worlds/default";
const delivery = (id: string, more: object = {}) => ({
  ...{ id, app: "1001", callback: "http://a/", object: "page", field: "custom_labels", entity: "2001", status: "delivered" },
  ...{ updates: 1, time: 1_795_000_000, attempts: [{ status: 200, latency_ms: 3 }] },
  ...more,
});

/**
 * A stand-in for the control API, with a world that has a page. Triggering an event makes the deliveries. `states` has the state of each
 * delivery each time the command reads it; after the last state, the state stays the same.
 */
function world(states: Readonly<Record<string, readonly object[]>> = { 501: [delivery("501")] }) {
  const looks: Record<string, number> = {};
  return controlStub(({ method, path }: Asked) => {
    if (path.startsWith(`${WORLD}/nodes/pages`)) return { data: [{ id: "2001" }] };
    if (path.startsWith(`${WORLD}/nodes/`)) return { data: [] };
    if (path.includes("/example?")) return { value: { label: { id: "5", name: "vip" } } };
    if (path === `${WORLD}/deliveries/trigger`) return { deliveries: Object.keys(states) };
    if (path === `${WORLD}/clock/advance`) return { now: 1_795_003_600 };
    const id = path.slice(`${WORLD}/deliveries/`.length);
    if (method !== "GET" || states[id] === undefined) return {};
    const look = (looks[id] ?? 0) + 1;
    looks[id] = look;
    return states[id][Math.min(look, states[id].length) - 1];
  });
}

const asked = (stub: { asked: Asked[] }, method: string) => stub.asked.filter((one) => one.method === method);
const posted = (body: object): Asked => ({ method: "POST", path: `${WORLD}/deliveries/trigger`, body });

test("--list aligns what each event is", async () => {
  const streams = written();
  expect(await trigger(undefined, { list: true })).toBe(0);
  const lines = streams.out.trimEnd().split("\n");
  const columns = lines.map((line) => /^\S+ {2,}/.exec(line)?.[0].length);
  expect(new Set(columns).size).toBe(1);
  expect(lines.some((line) => /^\S+ {2}\S/.test(line))).toBe(true);
});

test.each([
  [["page", "custom_labels", "2001"], "page.custom_labels --entity 2001"],
  [["page", "custom_labels"], "page.custom_labels"],
  [["messages", "6001"], "messages --entity 6001"],
  [["messages", "comments"], "page.custom_labels --entity 2001"],
  [["page", "custom_labels", "2001", "now"], "page.custom_labels --entity 2001"],
])("several arguments, %p, are refused with the line that was meant", async ([event, ...excess], line) => {
  const streams = written();
  expect(await trigger(event, {}, excess)).toBe(2);
  expect(streams.err).toBe(`plaza: <event>: give one event, and the id of the event's account or page in --entity: plaza trigger ${line}\n`);
});

describe("an event", () => {
  test("is made of the first node that has such events, as an example of the server", async () => {
    const stub = world();
    const streams = written();
    expect(await trigger("custom_labels", stub.given)).toBe(0);
    expect(stub.asked).toEqual([
      { method: "GET", path: `${WORLD}/nodes/pages?limit=1` },
      posted({ object: "page", field: "custom_labels", entity: "2001" }),
      { method: "GET", path: `${WORLD}/deliveries/501` },
    ]);
    expect(streams).toEqual({ out: "501 app 1001 http://a/: delivered 200 in 3 ms\n", err: "" });
  });

  test("is of the node, the number and the value that are named", async () => {
    const stub = world();
    written();
    const more = { entity: "7", phone_number: "41", value: '{"a":1}' };
    expect(await trigger("chatapp_business_account.messages", { ...stub.given, ...more })).toBe(0);
    expect(stub.asked.slice(0, -1)).toEqual([
      posted({ object: "chatapp_business_account", field: "messages", entity: "7", phone_number: "41", value: { a: 1 } }),
    ]);
  });

  test("has the example with what is overridden", async () => {
    const stub = world();
    written();
    const more = { entity: "7", phone_number: "41", override: ["label.name=new", "label.more=1"] };
    expect(await trigger("page.custom_labels", { ...stub.given, ...more })).toBe(0);
    expect(stub.asked.slice(0, 2)).toEqual([
      { method: "GET", path: `${WORLD}/webhook-fields/page/custom_labels/example?entity=7&phone_number=41` },
      posted({
        ...{ object: "page", field: "custom_labels", entity: "7", phone_number: "41" },
        value: { label: { id: "5", name: "new", more: 1 } },
      }),
    ]);
  });

  test("is waited for until each of its deliveries was tried, and is a failure if one was not accepted", async () => {
    const stub = world({
      501: [delivery("501", { status: "waiting", attempts: [] }), delivery("501", { status: "sending", attempts: [] }), delivery("501")],
      // The server will retry this delivery, and the command does not wait for the retry.
      502: [delivery("502", { status: "waiting", reason: "retry", attempts: [{ status: 500 }] })],
      503: [delivery("503", { status: "unsubscribed", attempts: [] })],
      504: [delivery("504")],
    });
    const streams = written();
    expect(await trigger("custom_labels", stub.given)).toBe(1);
    expect(asked(stub, "GET").map(({ path }) => path.slice(WORLD.length))).toEqual([
      "/nodes/pages?limit=1",
      ...["/deliveries/501", "/deliveries/501", "/deliveries/501", "/deliveries/502", "/deliveries/503", "/deliveries/504"],
    ]);
    expect(streams.out.split("\n")).toEqual([
      "501 app 1001 http://a/: delivered 200 in 3 ms",
      "502 app 1001 http://a/: waiting (retry) 500",
      "503 app 1001 http://a/: unsubscribed",
      "504 app 1001 http://a/: delivered 200 in 3 ms",
      "",
    ]);
  });

  test("is waited for as long as a callback may take to respond and not longer, in short steps", async () => {
    const stub = world({ 501: [delivery("501", { status: "sending", attempts: [] })] });
    const streams = written();
    const pauses: unknown[] = [];
    const spy = spyOn(timers, "setTimeout").mockImplementation((async (ms: unknown) => void pauses.push(ms)) as never);
    afterThisTest(() => spy.mockRestore());
    expect(await trigger("custom_labels", stub.given)).toBe(1);
    expect(streams.out).toBe("501 app 1001 http://a/: sending\n");
    // The command waits for 17 s, because a callback has 15 s to respond.
    expect(pauses).toEqual(new Array(340).fill(50));
  });

  test("needs a node, and is named by event or script, not by both", async () => {
    const stub = world();
    const streams = written();
    expect(await trigger("social.comments", stub.given)).toBe(1);
    expect(await trigger("calls", { ...stub.given, script: "x" })).toBe(2);
    expect(await trigger(undefined, stub.given)).toBe(2);
    expect(await trigger("calls", { ...stub.given, value: "{" })).toBe(2);
    expect(await trigger("calls", { ...stub.given, value: "{}", override: ["a=1"] })).toBe(2);
    expect(streams.err.split("\n")).toEqual([
      "plaza: the world has no social_accounts: choose an account, page or catalog as the entity",
      "plaza: give either an event or a --script; --list shows the events",
      "plaza: give either an event or a --script; --list shows the events",
      expect.stringContaining("plaza: --value: is not JSON: "),
      "plaza: --override: changes the example, and --value replaces the whole example: give only one of the two",
      "",
    ]);
    expect(asked(stub, "POST")).toEqual([]);
  });
});

describe("a script", () => {
  const script = (steps: unknown): string => {
    const file = join(temporaryFolder(), "script.json");
    writeFileSync(file, JSON.stringify(steps));
    return file;
  };

  test("is done step by step, and says what each step did", async () => {
    const stub = world();
    const streams = written();
    const steps = [{ advance: 0 }, { world: { labels: [], pages: [] } }, { event: "custom_labels", override: { "label.name": 5 } }];
    expect(await trigger(undefined, { ...stub.given, script: script(steps) })).toBe(0);
    expect(asked(stub, "POST")).toEqual([
      { method: "POST", path: `${WORLD}/clock/advance`, body: { seconds: 0 } },
      { method: "POST", path: `${WORLD}/import`, body: { labels: [], pages: [] } },
      posted({ object: "page", field: "custom_labels", entity: "2001", value: { label: { id: "5", name: 5 } } }),
    ]);
    expect(streams.out).toBe(
      "the world's time is 2026-11-18T12:06:40.000Z\nmerged labels, pages into the world\n501 app 1001 http://a/: delivered 200 in 3 ms\n",
    );
  });

  test("ends with the first event that was not accepted", async () => {
    const stub = world({ 501: [delivery("501", { status: "failed" })] });
    written();
    expect(await trigger(undefined, { ...stub.given, script: script([{ event: "custom_labels" }, { advance: 1 }]) })).toBe(1);
    expect(asked(stub, "POST")).toHaveLength(1);
  });

  test("D-324: with a number that would lose digits is refused with its line", async () => {
    const stub = world();
    const streams = written();
    const file = join(temporaryFolder(), "script.yaml");
    writeFileSync(file, "- event: feed\n  value: {post_id: 12345678901234567890}\n");
    expect({ code: await trigger(undefined, { ...stub.given, script: file }), said: streams.err }).toEqual({
      code: 2,
      said: `plaza: --script: ${file}: the number 12345678901234567890 has more digits than can be kept: write it in quotes, or with fewer digits (line 2)\n`,
    });
    expect(asked(stub, "POST")).toEqual([]);
  });

  test("has at most a thousand steps, and each is right before the first is done", async () => {
    const stub = world();
    const streams = written();
    const run = async (steps: unknown) => {
      Object.assign(streams, { out: "", err: "" });
      return { code: await trigger(undefined, { ...stub.given, script: script(steps) }), said: streams.err };
    };
    const steps = (count: number) => Array.from({ length: count }, () => ({ advance: 0 }));
    expect((await run(steps(1_001))).said).toEndWith("has more than 1000 steps\n");
    for (const none of [[], {}, null]) expect((await run(none)).said).toEndWith("must contain a list of steps\n");
    for (const [step, problem] of [
      [{ advance: -1 }, "advance"],
      [{ advance: 0.5 }, "advance"],
      [null, "the step needs event, advance or world"],
      [{ world: {}, event: "calls" }, "event"],
      [{ event: "calls", value: {}, override: { a: 1 } }, "override changes the example"],
      [{ event: "call" }, "there is no event call; did you mean calls?; --list shows all events"],
    ] as const) {
      const { code, said } = await run([{ advance: 0 }, step]);
      expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining(problem) });
      if (!problem.startsWith("there")) expect(said).toContain("plaza: --script: step 2 of ");
    }
    expect(asked(stub, "POST")).toEqual([]);
    // The given value replaces the example, and an empty override changes nothing in the value.
    expect(await run([{ event: "custom_labels", value: { a: 1 }, override: {} }])).toEqual({ code: 0, said: "" });
    expect(await readScript(script(steps(1_000)))).toHaveLength(1_000);
  });
});

describe("a delivery", () => {
  test.each([
    [{}, "501 app 1001 http://a/: delivered 200 in 3 ms"],
    [{ callback: undefined, status: "unsubscribed", attempts: [] }, "501 app 1001 (no callback): unsubscribed"],
    [
      { status: "waiting", reason: "paused", attempts: [{ status: 500 }, { error: "ECONNREFUSED" }] },
      "501 app 1001 http://a/: waiting (paused) ECONNREFUSED",
    ],
    [{ callback: "http://\u001b/", attempts: [{ status: 200, latency_ms: 0 }] }, "501 app 1001 http://\\u001b/: delivered 200 in 0 ms"],
  ])("%j is %s", (more, line) => {
    expect(printable(lineOf(delivery("501", more)))).toBe(line);
  });

  test("is listed with its time and event, and how many updates it has where these are several", async () => {
    const list = [delivery("2", { updates: 2 }), delivery("1")];
    const { given } = controlStub(({ path }) => ({ data: path.includes("status=") ? [] : list }));
    const streams = written();
    expect(await listDeliveries(given)).toBe(0);
    const start = "2026-11-18T11:06:40.000Z page.custom_labels of 2001";
    expect(streams).toEqual({
      out: `${start} (2) 2 app 1001 http://a/: delivered 200 in 3 ms\n${start} 1 app 1001 http://a/: delivered 200 in 3 ms\n`,
      err: "",
    });
    Object.assign(streams, { out: "" });
    await listDeliveries({ ...given, json: true });
    expect(streams).toEqual({ out: `${JSON.stringify(list[0])}\n${JSON.stringify(list[1])}\n`, err: "" });
    Object.assign(streams, { out: "" });
    await listDeliveries({ ...given, json: true, status: "failed" });
    expect(streams).toEqual({ out: "", err: "" });
    await listDeliveries({ ...given, status: "failed" });
    expect(streams).toEqual({ out: "", err: "no deliveries\n" });
  });

  test("is sent again by its id or since a time, not by both", async () => {
    const stub = controlStub(() => ({ replayed: 3 }));
    const streams = written();
    expect(await resendDeliveries({ ...stub.given, since: "1" }, ["5"])).toBe(2);
    expect(await resendDeliveries(stub.given, [])).toBe(2);
    expect(await resendDeliveries({ ...stub.given, callback: "http://a/" }, ["5"])).toBe(2);
    expect(stub.asked).toEqual([]);
    expect(await resendDeliveries({ ...stub.given, since: "12x" })).toBe(0);
    expect(stub.asked).toEqual([{ method: "POST", path: `${WORLD}/deliveries/replay`, body: { since: "12x" } }]);
    expect(streams.out).toBe("3 sent again\n");
  });
});

test("with --json a delivery is printed as the control API returned it", async () => {
  const stub = world();
  const streams = written();
  expect(await trigger("page.custom_labels", { ...stub.given, json: true })).toBe(0);
  expect(
    streams.out
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual([delivery("501")]);
});
