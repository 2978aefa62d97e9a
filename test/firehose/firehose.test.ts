/**
 * The firehose copies every committed app event and every delivered webhook to Kafka, in order for each app, even if its processes are killed
 * meanwhile.
 */
import { expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Message, readTopic, startFirehose } from "#harness/firehose/firehose";
import { startKafka } from "#harness/firehose/kafka";
import { freePort } from "#harness/processes/free-port";
import { startReceiver } from "#harness/receiver";
import { type Server, startServer, temporaryFolder, worldFile } from "#harness/server";

const KEY = "control-key-of-the-firehose-tests";
const APPS = ["1001", "1002", "1003"] as const;
const EVENTS = "plaza.app-events";
const WEBHOOKS = "plaza.webhooks";

/** A server that keeps its addresses when it is started again. */
async function openServer(callback: string) {
  const data = join(temporaryFolder(), "data");
  const world = worldFile({
    apps: APPS.map((id) => ({
      ...{ id, name: `App ${id}`, secret: "s" },
      ...(id === "1001" ? { callback: { url: callback }, subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] } : {}),
    })),
    chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
    phone_numbers: [{ id: "4101", account: "4001" }],
  });
  const options = ["--data", data, "--webhook-log", "--port", String(freePort()), "--control-port", String(freePort())];
  const start = (...more: string[]) => startServer([...options, ...more], { PLAZA_CONTROL_KEY: KEY });
  let server: Server = await start("--world", world);
  const control = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${server.control_url}/v1/worlds/default/${path}`, {
      ...{ method, headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
    return { status: response.status, body: (await response.json()) as any };
  };
  const send = async (app: string, ...names: string[]): Promise<number> => {
    const body = {
      event: "CUSTOM_APP_EVENTS",
      advertiser_id: "a",
      custom_events: names.map((_eventName) => ({ _eventName: "buy", name: _eventName })),
    };
    const headers = { authorization: `Bearer ${app}|s`, "x-forwarded-for": "1.2.3.4", "content-type": "application/json" };
    return (await fetch(`${server.base_url}/v26.0/${app}/activities`, { method: "POST", headers, body: JSON.stringify(body) })).status;
  };
  /** The ids of all events that the server has stored for an app. */
  const stored = async (app: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = "0"; ; ) {
      const { body } = await control("GET", `app-events/${app}/log?limit=1000&after=${after}`);
      ids.push(...body.data.map(({ id }: { id: string }) => `${app}:${id.replace("-", ":")}`));
      if (!body.has_more) return ids;
      after = body.cursor;
    }
  };
  return {
    ...{ data, control, send, stored, url: server.control_url },
    kill: () => server.kill(),
    stop: () => server.stop(),
    start: async () => {
      server = await start();
    },
  };
}

const ofApp = (messages: readonly Message[], app: string): Message[] => messages.filter((message) => message.app === app);
const idsOf = (messages: readonly Message[]): string[] => messages.map(({ id }) => id);

/** Expects that the topics contain what the server has stored, in the server's order, and everything that the server accepted or delivered. */
async function expectAll(
  plaza: Awaited<ReturnType<typeof openServer>>,
  brokers: string,
  accepted: ReadonlyMap<string, readonly string[]>,
  posts: readonly { readonly body: string }[],
): Promise<void> {
  const events = await readTopic(EVENTS, brokers);
  for (const app of APPS) {
    const copied = ofApp(events, app);
    expect(idsOf(copied)).toEqual(await plaza.stored(app));
    const names = new Set(copied.map(({ parameters }) => (parameters as { name: string }).name));
    expect(accepted.get(app)?.filter((name) => !names.has(name))).toEqual([]);
  }
  const webhooks = await readTopic(WEBHOOKS, brokers);
  const positions = webhooks.map(({ position }) => position as number);
  const { body } = await plaza.control("GET", "delivery-log?limit=1");
  expect(positions).toEqual(Array.from({ length: body.last_position }, (_, at) => at + 1));
  expect(webhooks.length).toBeGreaterThan(0);
  expect(new Set(webhooks.map((one) => one.body))).toEqual(new Set(posts.map((post) => post.body)));
}

test("kills of Plaza, of the broker and of the firehose: each committed event and each delivered webhook is in its topic, in order", async () => {
  const kafka = await startKafka();
  const receiver = startReceiver();
  const plaza = await openServer(receiver.url);
  const copying = ["--control-url", plaza.url, "--brokers", kafka.address, "--webhook-topic", WEBHOOKS, "--poll-ms", "20", "--partitions", "2"];
  const start = () => startFirehose(copying, { PLAZA_CONTROL_KEY: KEY });

  const accepted = new Map<string, string[]>(APPS.map((app) => [app, []]));
  let [isSending, sent, progress] = [true, 0, Promise.withResolvers<void>()];
  /** Sends events until the end; an event without a response is not sent again, whether or not the server stored it. */
  const sending = APPS.map(async (app) => {
    while (isSending) {
      const name = `${app} ${++sent}`;
      const status = await plaza.send(app, name, `${name} more`).catch(() => undefined);
      if (status === 200) accepted.get(app)?.push(name);
      if (app === "1001") await plaza.control("POST", "in-app/chatapp", { account: "4001", field: "messages", value: { name } }).catch(() => {});
      // Waits for a turn of the event loop between requests, so that the other code of the test can run.
      await Bun.sleep(1);
      progress.resolve();
      progress = Promise.withResolvers();
    }
  });
  const count = (): number => [...accepted.values()].reduce((sum, { length }) => sum + length, 0);
  const more = async (requests: number): Promise<void> => {
    for (const until = count() + requests; count() < until; ) await progress.promise;
  };

  const first = start();
  await first.said("started");
  await more(60);
  await plaza.kill();
  await first.said("failed and is tried again");
  await plaza.start();
  await more(60);
  await kafka.kill();
  await first.said(kafka.address);
  await more(60);
  await kafka.start();
  await more(60);
  await first.kill();
  await more(30);
  const second = start();
  await second.said("started");
  await more(30);
  await second.kill();
  // The broker and the server are ended together while a third firehose copies.
  const third = start();
  await third.said("started");
  await more(30);
  await Promise.all([kafka.kill(), plaza.kill()]);
  await Promise.all([kafka.start(), plaza.start()]);
  await more(30);
  isSending = false;
  await Promise.all(sending);
  expect(await third.stop()).toBe(0);

  // All webhooks are delivered before the log of deliveries is compared.
  for (let waiting = 1; waiting > 0; ) waiting = (await plaza.control("GET", "deliveries?status=waiting,sending&limit=1")).body.data.length;
  const last = startFirehose([...copying, "--once"], { PLAZA_CONTROL_KEY: KEY });
  expect({ code: await last.exited, log: last.log }).toMatchObject({ code: 0 });

  await expectAll(plaza, kafka.address, accepted, receiver.posts);
}, 300_000);

test("resets, deleted events, an older backup and refusals: nothing is left out in silence", async () => {
  const kafka = await startKafka();
  const plaza = await openServer("http://127.0.0.1:9/");
  const copy = async (...more: string[]) => {
    const options = ["--control-url", plaza.url, "--brokers", kafka.address, "--once", ...more];
    const firehose = startFirehose(options, { PLAZA_CONTROL_KEY: KEY });
    return { code: await firehose.exited, said: firehose.log.map(({ message }) => message).join("\n") };
  };
  const topic = async () => (await readTopic(EVENTS, kafka.address)).map(({ kind, id }) => `${kind} ${id}`);

  for (const name of ["a", "b"]) expect(await plaza.send("1001", name)).toBe(200);
  expect(await copy()).toMatchObject({ code: 0 });
  expect(await topic()).toEqual(["event 1001:1:0", "event 1001:2:0"]);

  // Retention deletes three logged requests before the firehose has copied them.
  for (const name of ["c", "d", "e"]) expect(await plaza.send("1001", name)).toBe(200);
  expect((await plaza.control("PUT", "app-events-retention", { days: 2 })).status).toBe(200);
  expect((await plaza.control("POST", "clock/advance", { seconds: 5 * 86_400 })).status).toBe(200);
  expect(await plaza.send("1001", "f")).toBe(200);
  expect(await copy()).toMatchObject({ code: 0, said: expect.stringContaining("deleted before they were copied") });
  const withGap = ["event 1001:1:0", "event 1001:2:0", "gap 1001:3-5:gap", "event 1001:6:0"];
  expect(await topic()).toEqual(withGap);

  // The server restores a backup that is older than the firehose's cursor, so the log is not copied until somebody decides how to go on.
  await plaza.stop();
  cpSync(plaza.data, `${plaza.data}.backup`, { recursive: true });
  await plaza.start();
  expect(await plaza.send("1001", "g")).toBe(200);
  expect(await copy()).toMatchObject({ code: 0 });
  await plaza.kill();
  rmSync(plaza.data, { recursive: true });
  cpSync(`${plaza.data}.backup`, plaza.data, { recursive: true });
  await plaza.start();
  expect(await copy()).toMatchObject({ code: 1, said: expect.stringContaining("/v1/worlds/default/log-epoch") });
  expect((await plaza.control("POST", "log-epoch")).status).toBe(200);
  expect(await copy()).toMatchObject({ code: 0 });
  const restored = [...withGap, "event 1001:7:0", "gap 1001:1-5:gap", "event 1001:6:0"];
  expect(await topic()).toEqual(restored);

  // A restored snapshot gives other meanings to the log's numbers, as a reset does, so the log begins another epoch.
  expect((await plaza.control("POST", "snapshots", { name: "before" })).status).toBe(201);
  expect(await plaza.send("1001", "h")).toBe(200);
  expect(await copy()).toMatchObject({ code: 0 });
  expect((await plaza.control("POST", "snapshots/before/restore")).status).toBe(200);
  expect(await plaza.send("1001", "i")).toBe(200);
  expect(await copy()).toMatchObject({ code: 0, said: expect.stringContaining("reset or restored") });
  expect(await topic()).toEqual([...restored, "event 1001:7:0", "gap 1001:1-5:gap", "event 1001:6:0", "event 1001:7:0"]);
  const messages = await readTopic(EVENTS, kafka.address);
  const [h, , , i] = messages.slice(-4);
  expect([h?.parameters, i?.parameters]).toEqual([{ name: "h" }, { name: "i" }]);
  expect(new Set(messages.map(({ epoch }) => epoch)).size).toBe(3);

  // If a log is copied again from its beginning, its messages have the same identities as before.
  expect(await copy("--from-beginning", "default:1001")).toMatchObject({ code: 0, said: expect.stringContaining("deleted before") });
  expect(await readTopic(EVENTS, kafka.address)).toEqual(messages);

  const refused = startFirehose(["--control-url", plaza.url, "--brokers", kafka.address, "--once"], {
    PLAZA_CONTROL_KEY: "another-key-of-the-firehose-tests",
  });
  expect({ code: await refused.exited, log: refused.log }).toMatchObject({ code: 1, log: [{}, { message: expect.stringContaining("control key") }] });
  const bad = startFirehose(["--control-url", plaza.url, "--brokers", "kafka"], { PLAZA_CONTROL_KEY: KEY });
  expect({ code: await bad.exited, log: bad.log }).toMatchObject({
    code: 2,
    log: [{ message: 'plaza-firehose: --brokers: "kafka" is not HOST:PORT' }],
  });
}, 300_000);
