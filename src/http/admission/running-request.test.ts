/** Checks which quotas of the server's capacity a request uses while it runs and while it waits for another server (D-97), step by step. */
import { expect, test } from "bun:test";
import { RequestMetrics } from "#telemetry/request-metrics";
import { defaultLimits, type HttpLimits } from "../limits.ts";
import { Admissions, type Client, RunningRequest } from "./admissions.ts";

const client: Client = { address: "a", appPrefix: "t1/" };

/** Opens admissions. `app` is the app whose token is in the heads of the requests. */
function open(limits: Partial<HttpLimits>, app?: string) {
  const metrics = new RequestMetrics();
  const admissions = new Admissions({ limits: { ...defaultLimits, ...limits }, metrics, knownApp: () => app, retryAfterSeconds: () => 7 });
  const { running, waiting } = admissions;
  const held = () => ({
    running: [running.count, running.size, metrics.inFlight],
    waiting: [waiting.count, waiting.size, metrics.waiting],
  });
  const admit = (bytes = 0, from = client): RunningRequest => {
    const admitted = admissions.admit(from, bytes);
    if (!(admitted instanceof RunningRequest)) throw new Error(`turned away: ${admitted.reason}`);
    return admitted;
  };
  return { admissions, held, admit };
}

test("a waiting request counts only as waiting, whatever becomes of the other server", async () => {
  const { admissions, held, admit } = open({});
  const ofAddress = () => admissions.running.accountOf(undefined, "a").count;
  const request = admit(100);
  expect(held()).toEqual({ running: [1, 100, 1], waiting: [0, 0, 0] });
  const during = await request.whileWaiting(async () => held());
  expect(during).toEqual({ running: [0, 0, 0], waiting: [1, 100, 1] });
  expect(held()).toEqual({ running: [1, 100, 1], waiting: [0, 0, 0] });
  const failing = request.whileWaiting(() => Promise.reject(new Error("it hung up")));
  expect(held()).toEqual({ running: [0, 0, 0], waiting: [1, 100, 1] });
  await expect(failing).rejects.toThrow("it hung up");
  expect(held()).toEqual({ running: [1, 100, 1], waiting: [0, 0, 0] });
  // The request has not yet shown an app's token, so it counts against the address of its client.
  expect(ofAddress()).toBe(1);
  request.end();
  expect({ ...held(), ofAddress: ofAddress() }).toEqual({ running: [0, 0, 0], waiting: [0, 0, 0], ofAddress: 0 });
});

test("a request on a full server belongs to the app in its head, whatever it shows later", () => {
  const { admissions, admit } = open({ requestsMax: 1 }, "t1/1001");
  admit().countAgainst("1003");
  const request = admit();
  request.countAgainst("1002");
  expect(["1001", "1002"].map((app) => admissions.running.accountOf(`t1/${app}`, "a").count)).toEqual([1, 0]);
});

test("if too many of an app wait, the next one is refused and keeps running, and another app's waits", async () => {
  const { held, admit } = open({ waitingOfAppMax: { count: 1, size: 1_000 } });
  const [first, second, other] = [admit(), admit(), admit()];
  first.countAgainst("1001");
  second.countAgainst("1001");
  other.countAgainst("1002");
  const gate = Promise.withResolvers<void>();
  const waits = [first.whileWaiting(() => gate.promise)];
  await expect(second.whileWaiting(() => expect.unreachable("it is turned away"))).rejects.toMatchObject({
    errorName: "overloaded",
    details: { headers: { "retry-after": "7" } },
  });
  expect([first.turnAway, second.turnAway]).toEqual([undefined, { app: "t1/1001", reason: "waiting" }]);
  waits.push(other.whileWaiting(() => gate.promise));
  expect(held()).toEqual({ running: [1, 0, 1], waiting: [2, 0, 2] });
  gate.resolve();
  await Promise.all(waits);
  expect(held()).toEqual({ running: [3, 0, 3], waiting: [0, 0, 0] });
});

test("a request that shows its app when the app has no share left is refused, and counts against it until it ends", () => {
  const { held, admit } = open({ requestsMax: 2 });
  const [one, two, third] = [admit(), admit(), admit(0, { address: "b", appPrefix: "t1/" })];
  one.countAgainst("1001");
  expect(one.turnAway).toBeUndefined();
  expect(() => two.countAgainst("1001")).toThrow("The service is busy");
  expect(two.turnAway).toEqual({ app: "t1/1001", reason: "requests" });
  // Another app has its own share of the server's capacity. A request counts against the app whose token it has shown first.
  third.countAgainst("1002");
  third.countAgainst("1001");
  third.countAgainstAddress();
  expect({ turnAway: third.turnAway, ...held() }).toEqual({ turnAway: undefined, running: [3, 0, 3], waiting: [0, 0, 0] });
  for (const request of [one, two, third]) request.end();
  expect(held().running).toEqual([0, 0, 0]);
});
