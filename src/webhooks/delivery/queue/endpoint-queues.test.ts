import { describe, expect, test } from "bun:test";
import { startReceiver, valuesAt } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";

describe("several endpoint queues", () => {
  test("a hanging or failing callback slows down nobody else, and takes no more than its share", async () => {
    const [hanging, failing, well] = [startReceiver(), startReceiver(), startReceiver()];
    const release: (() => void)[] = [];
    hanging.response = () => new Promise((resolve) => release.push(() => resolve(new Response("late"))));
    failing.response = () => new Response(null, { status: 500 });
    const features = newFeatures(well.url);
    features.apps.set("1002", { url: hanging.url, secret: "h" }).set("1003", { url: failing.url, secret: "f" });
    features.subscribers = () => ["1001", "1002", "1003"];
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features });
    fixture.loop.start();
    for (let n = 0; n < 500; n++) await fixture.emit(`${40_000 + n}`, { n });
    const startMs = performance.now();
    while (valuesAt(well).length < 500) await Bun.sleep(2);
    // The first of the requests without a response would end only after 15 s.
    expect(performance.now() - startMs).toBeLessThan(12_000);
    expect(hanging.posts.length).toBe(4);
    // The counted requests are those before the circuit breaker opened, those that were under way at that moment, and one test request whenever one
    // is due.
    expect(failing.posts.length).toBeLessThan(60);
    for (let n = 0; n < 500; n++) for (const end of release.splice(0)) end();
  });

  test("an entity with a hanging delivery delays only its own order", async () => {
    const receiver = startReceiver();
    const release: (() => void)[] = [];
    receiver.response = ({ json }) =>
      json.entry[0].id === "4001" ? new Promise((resolve) => release.push(() => resolve(new Response("late")))) : new Response("ok");
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    fixture.loop.start();
    await fixture.emit("4001", { n: 0 });
    while (receiver.posts.length === 0) await Bun.sleep(1);
    for (let n = 1; n <= 200; n++) await fixture.emit("4001", { n });
    for (let n = 1; n <= 20; n++) await fixture.emit(`${40_000 + n}`, { n });
    const startMs = performance.now();
    while (receiver.posts.length < 21 && performance.now() - startMs < 3_000) await Bun.sleep(2);
    expect(receiver.posts.filter(({ json }) => json.entry[0].id !== "4001")).toHaveLength(20);
    release.pop()?.();
    while (release.length === 0) await Bun.sleep(1);
    expect(receiver.posts.at(-1)?.values).toHaveLength(200);
    release.pop()?.();
  });

  test("a spared receiver gets its waiting deliveries when it works again, even if nothing else happens", async () => {
    const receiver = startReceiver();
    let isWell = false;
    receiver.response = () => new Response(null, { status: isWell ? 200 : 500 });
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    for (let n = 0; n < 40; n++) await fixture.emit(`${40_000 + n}`, { n });
    await fixture.loop.runDue();
    expect(receiver.posts).toHaveLength(40);
    for (let n = 100; n < 110; n++) await fixture.emit(`${40_000 + n}`, { n });
    receiver.posts.length = 0;
    fixture.loop.start();
    // The next requests are test requests that fail; before each of them the breaker waits twice as long as before the previous one.
    while (receiver.posts.length < 2) await Bun.sleep(5);
    expect(new Set(valuesAt(receiver).map((value) => (value as { n: number }).n)).size).toBe(receiver.posts.length);
    isWell = true;
    while (receiver.posts.filter(({ values }) => (values[0] as { n: number }).n >= 102).length < 8) await Bun.sleep(5);
    await fixture.webhooks.dispatcher.settled();
    await fixture.emit("40200", { n: 200 });
    while (!valuesAt(receiver).some((value) => (value as { n: number }).n === 200)) await Bun.sleep(5);
  });

  test("new events are sent while a night's failures are retried", async () => {
    const receiver = startReceiver();
    let isWell = false;
    receiver.response = async ({ values }) => {
      if (!isWell) return new Response(null, { status: 500 });
      await Bun.sleep((values[0] as { n: number }).n < 1_000 ? 200 : 1);
      return new Response("ok");
    };
    const fixture = openWebhooks(await (await newWorkStore("sqlite", fixtureMigrations)).open(), { features: newFeatures(receiver.url) });
    for (let n = 0; n < 300; n++) await fixture.emit(`${40_000 + n}`, { n });
    await fixture.loop.runDue();
    isWell = true;
    fixture.clock.ms += 15_000;
    fixture.loop.start();
    await Bun.sleep(20);
    const startMs = performance.now();
    for (let n = 1_000; n < 1_050; n++) await fixture.emit(`${40_000 + n}`, { n });
    const news = () => valuesAt(receiver).filter((value) => (value as { n: number }).n >= 1_000).length;
    while (news() < 50) await Bun.sleep(2);
    // The measured time consists of a second in which the breaker is still open, one retry as test request, and the other retries. It is much less
    // than the 10 s that all retries would take one after the other.
    expect(performance.now() - startMs).toBeLessThan(9_000);
    const retried = receiver.posts.length - 300 - 50;
    expect(retried).toBeLessThan(300);
  });
});
