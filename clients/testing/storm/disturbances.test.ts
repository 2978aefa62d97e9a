import { describe, expect, test } from "bun:test";
import { jobsFor, pairsOf, type Run, readSchedule, scheduleText, singlesOf } from "./disturbances.ts";
import { type LoggedDelivery, type LoggedRequest, type Point, pointsOf } from "./observation.ts";

const request = (operation: string, method = "GET", more: Partial<LoggedRequest> = {}): LoggedRequest => ({
  ...{ trace_id: "A", operation, method, surface: "base", path: `/v26.0/${operation}`, query: "", status: 200, time: 0, duration_ms: 1 },
  ...{ request_body: "", response_body: '{"data":[{"id":"1"},{"id":"2"}]}', ...more },
});
const delivery = (field: string, more: Partial<LoggedDelivery> = {}): LoggedDelivery =>
  ({ field, object: "chatapp_business_account", entity: "4001", status: "delivered", callback: "http://127.0.0.1:9/", ...more }) as LoggedDelivery;

const runOf = (points: readonly Point[], expiries: readonly number[] = []): Run => ({ points, startedAt: 100, expiries });
const observed = (requests: readonly LoggedRequest[], deliveries: readonly LoggedDelivery[] = []) =>
  pointsOf({ requests, deliveries, nodes: new Map() });

const namesAt = (run: Run, point: string): string[] =>
  singlesOf(run, {})
    .map(scheduleText)
    .filter((text) => text.startsWith(`${point}=`))
    .map((text) => text.slice(point.length + 1));

describe("the faults at a point", () => {
  test("a write may be lost after its commit, a read may not; a list has short pages at its first request", () => {
    const run = runOf(observed([request("createLabel", "POST"), request("listLabels"), request("listLabels", "GET", { query: "after=x" })]));
    expect(namesAt(run, "createLabel#1")).toEqual(["lost-before", "lost-after", "503", "429", "reset", "cut", "slow", "token-dies"]);
    expect(namesAt(run, "listLabels#1")).toEqual(["lost-before", "503", "429", "reset", "cut", "slow", "short-page", "token-dies"]);
    expect(namesAt(run, "listLabels#2")).not.toContain("short-page");
  });

  test("the clock jumps past the first expiry of a token, if a token expires", () => {
    const points = observed([request("createLabel", "POST")]);
    const [jump] = singlesOf(runOf(points, [160, 400]), { only: ["clock-jump"] });
    const [strike] = jump ?? [];
    expect(strike?.disturbance.faultAt(strike.point, runOf(points, [160, 400]))).toMatchObject({
      operation: "createLabel",
      skip: 0,
      advance_seconds: 61,
    });
    expect(singlesOf(runOf(points), { only: ["clock-jump"] })).toEqual([]);
  });

  test("a webhook changes its order only among others, and is lost only if its node can be read", () => {
    expect(namesAt(runOf(observed([], [delivery("messages")])), "messages#1")).toEqual(["twice", "late"]);
    const two = runOf(observed([], [delivery("messages"), delivery("calls")]));
    expect(namesAt(two, "messages#1")).toEqual(["twice", "late", "out-of-order", "batched"]);
    expect(namesAt(runOf(observed([], [delivery("custom_labels", { object: "page" })])), "custom_labels#1")).toEqual(["lost", "twice", "late"]);
  });

  test("only chosen faults are tried, and none that is left out", () => {
    const run = runOf(observed([request("createLabel", "POST")]));
    expect(singlesOf(run, { only: ["503", "429"], without: ["429"] }).map(scheduleText)).toEqual(["createLabel#1=503"]);
  });
});

describe("the points of a run", () => {
  test("are numbered by operation; a read that is repeated unchanged is one point, and an unknown operation none", () => {
    const points = observed([
      ...[request("createLabel", "POST"), request("listLabels"), request("listLabels"), request("createLabel", "POST")],
      ...[request("unknown"), request("listLabels", "GET", { query: "after=x" })],
    ]);
    expect(points.map(({ name, nth }) => `${name}#${nth}`)).toEqual(["createLabel#1", "listLabels#1", "createLabel#2", "listLabels#2"]);
    // A fault at the second list lets the repeated reads pass.
    expect(points.map(({ skip }) => skip)).toEqual([0, 0, 1, 2]);
  });

  test("D-375: a batch is a point, and so is each of its requests, which has no response that could get lost", () => {
    const batch = request("batch", "POST", { parts: ["createLabel", "unknown", "createLabel"] });
    const points = observed([request("createLabel", "POST"), batch, request("createLabel", "POST")]);
    const names = ["createLabel#1", "createLabel#2", "createLabel#3", "batch#1", "createLabel#4"];
    expect(points.map(({ name, nth }) => `${name}#${nth}`)).toEqual(names);
    const run = runOf(points, [160]);
    expect(namesAt(run, "createLabel#2")).toEqual(["503", "429", "token-dies", "clock-jump"]);
    expect(namesAt(run, "batch#1")).toContain("lost-after");
    expect(namesAt(run, "createLabel#4")).toContain("lost-after");
  });

  test("D-372: each webhook with a callback is a point, whether or not it arrived; a fault finds the webhook among those of its account", () => {
    const states = (["waiting", "sending", "failed", "unsubscribed", "delivered"] as const).map((status) => delivery("messages", { status }));
    const { callback: _, ...withoutCallback } = delivery("messages");
    const points = observed([], [withoutCallback, ...states, delivery("messages", { entity: "4002" })]);
    expect(points.map(({ name, nth }) => `${name}#${nth}`)).toEqual([1, 2, 3, 4, 5, 6].map((nth) => `messages#${nth}`));
    const faults = singlesOf(runOf(points), { only: ["twice"] }).flatMap((schedule) =>
      schedule.map(({ point, disturbance }) => disturbance.faultAt(point, runOf(points))),
    );
    expect(faults.map(({ node, skip }) => ({ node, skip }))).toEqual([
      ...[0, 1, 2, 3, 4].map((skip) => ({ node: "4001", skip })),
      { node: "4002", skip: 0 },
    ]);
  });
});

test("a webhook about a page or account that the scenario makes is found among all of its field, because its id differs in each run", () => {
  const deliveries = [delivery("messages"), delivery("messages", { entity: "9001" }), delivery("messages")];
  const run = runOf(pointsOf({ requests: [], deliveries, nodes: new Map() }, new Set(["4001"])));
  const faults = singlesOf(run, { only: ["twice"] }).flatMap((strikes) => strikes.map(({ point, disturbance }) => disturbance.faultAt(point, run)));
  expect(faults.map(({ skip, node }) => [skip, node])).toEqual([
    [0, "4001"],
    [1, undefined],
    [1, "4001"],
  ]);
});

describe("schedules", () => {
  const run = runOf(observed([request("createLabel", "POST"), request("listLabels")], [delivery("messages")]));

  test("are read as they are written", () => {
    for (const text of ["createLabel#1=lost-after", "createLabel#1=503+messages#1=twice"]) expect(scheduleText(readSchedule(text, run))).toBe(text);
  });

  test("run in as many worlds at a time as pay for the time to make them", () => {
    const [waiting, quick] = ["createLabel#1=503", "createLabel#1=lost-after"].map((text) => readSchedule(text, run));
    const many = Array.from({ length: 100 }, () => waiting ?? []);
    // A hundred runs of 1.2 s take 10 times 1.2 s in ten worlds, which take 10 times 1.2 s to make.
    expect(jobsFor(many, 200, 1_200)).toBe(10);
    expect(jobsFor(many, 200, 300)).toBe(20);
    expect(jobsFor(many, 200, 1)).toBe(64);
    expect(jobsFor([quick ?? []], 200, 1_200)).toBe(1);
  });

  test("with a wrong part name what there is", () => {
    expect(() => readSchedule("createLabel#2=503", run)).toThrow("the run has no createLabel#2; it has createLabel#1, listLabels#1, messages#1");
    expect(() => readSchedule("messages#1=503", run)).toThrow("messages#1 has no fault 503; it has twice, late");
    expect(() => readSchedule("", run)).toThrow("the run has no ");
  });

  test("pairs are at two points, are the same for the same seed, and differ for another", () => {
    const singles = singlesOf(run, {});
    const pairs = (count: number, seed: number) => pairsOf(singles, count, seed).map(scheduleText);
    expect(pairs(10, 1)).toHaveLength(10);
    expect(pairs(10, 1)).toEqual(pairs(10, 1));
    expect(pairs(10, 1)).not.toEqual(pairs(10, 2));
    // The order of the points differs if an app sends several requests at the same time.
    expect(pairsOf([...singles].reverse(), 10, 1).map(scheduleText)).toEqual(pairs(10, 1));
    const all = pairs(10_000, 1);
    expect(new Set(all).size).toBe(all.length);
    const [requests, reads, webhooks] = ["createLabel", "listLabels", "messages"].map((name) => namesAt(run, `${name}#1`).length) as [
      number,
      number,
      number,
    ];
    expect(all).toHaveLength(requests * reads + requests * webhooks + reads * webhooks);
    expect(pairs(0, 1)).toEqual([]);
  });
});
