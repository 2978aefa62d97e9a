/** D-301, D-302: tests a POST whose reused connection was closed without a response, and the order of an account's events at several addresses. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { serveBytes } from "#harness/outbound";
import { startReceiver, valuesAt } from "#harness/receiver";
import { fixtureMigrations, newFeatures, openWebhooks } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { listDeliveries } from "../history/list.store.ts";
import type { Attempt } from "./attempts.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

onEachDatabase("D-301: a reused connection", (kind) => {
  const open = async (url: string) => openWebhooks(await (await newWorkStore(kind, fixtureMigrations)).open(), { features: newFeatures(url) });

  test("that was closed after a whole request is an attempt of its own; the request is sent again at once", async () => {
    const requests: string[] = [];
    const port = await serveBytes((request, socket) => {
      requests.push(request);
      if (requests.length !== 2) return [OK];
      socket.end();
      return undefined;
    });
    const fixture = await open(`http://127.0.0.1:${port}/hook`);
    await fixture.emit("4001", { n: 1 });
    await fixture.loop.runDue();
    await fixture.emit("4001", { n: 2 });
    await fixture.loop.runDue();
    // The first and the repeated request have the same id and body.
    expect(requests).toHaveLength(3);
    expect(requests[2]).toBe(requests[1] as string);
    const [row] = (await listDeliveries(fixture.database.reader, {}, { limit: 1 })).rows;
    const attempts = JSON.parse(row?.attempts ?? "") as Attempt[];
    expect(row).toMatchObject({ status: 2 });
    expect(attempts).toMatchObject([{ error: "closed: the connection was closed" }, { status: 200 }]);
    expect(attempts.map((one) => ({ status: "status" in one, timestamp: one.timestamp }))).toEqual([
      { status: false, timestamp: attempts[1]?.timestamp },
      { status: true, timestamp: attempts[0]?.timestamp },
    ]);
    expect(fixture.attempts.map(({ outcome }) => outcome.kind)).toEqual(["delivered", "retry", "delivered"]);
  });
});

onEachDatabase("D-302: the events of an account", (kind) => {
  test("arrive in order at each address; one address does not delay another", async () => {
    const [numbers, accounts] = [startReceiver(), startReceiver()];
    const held = Promise.withResolvers<void>();
    numbers.response = async () => {
      await held.promise;
      return new Response();
    };
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const features = newFeatures(accounts.url);
    features.overrides.set("1001 4101", numbers.url);
    const fixture = openWebhooks(database, { features });
    fixture.loop.start();
    for (const n of [1, 2]) await fixture.emit("4001", { n }, { phone: "4101" });
    for (const n of [3, 4]) await fixture.emit("4001", { n });
    // The receiver at the other address has not responded to any request yet.
    while (valuesAt(accounts).length < 2) await Bun.sleep(1);
    expect(valuesAt(accounts)).toEqual([{ n: 3 }, { n: 4 }]);
    held.resolve();
    await fixture.loop.runDue();
    expect(valuesAt(numbers)).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
