/**
 * Starts a whole server in the test's own process, uses it a little, and stops it. The test checks that nothing of the server is left after it has
 * stopped.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { forTests } from "#config/for-tests";
import { readConfig } from "#config/read-config";
import { controlRoutes } from "#control/routes";
import { EVENT_STREAM } from "#control-contract/event-stream";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { variables } from "#harness/cli/variables";
import { onEachDatabase } from "#harness/databases";
import { csv, feedWorld, row } from "#harness/feeds";
import { serve } from "#harness/outbound";
import { sharedPostgres } from "#harness/postgres-cluster";
import { countLeftBehind } from "#harness/processes/left-behind";
import { startReceiver } from "#harness/receiver";
import { temporaryFolder, threeTokens, worldFile } from "#harness/server";
import { Log } from "#telemetry/log";
import { settings } from "./features.ts";
import { buildRegistry, type RunningPlaza, startPlaza } from "./main.ts";

const [CAFE] = feedWorld.pages;
const WORLD = {
  ...feedWorld,
  apps: feedWorld.apps.slice(0, 1),
  pages: [{ ...CAFE, subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] }],
  live_videos: [{ id: "5301", page: "2001", status: "LIVE" }],
  tokens: [
    { token: "app", type: "app", app: "1001" },
    { token: "page", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] },
  ],
};

/** The values that replace the placeholders in the paths of routes. */
const IDS: Readonly<Record<string, string>> = { w: "default", id: "5301", app: "1001" };

/** The addresses of all event streams of the control API. */
const streams = controlRoutes(buildRegistry())
  .filter(({ method, streams = [] }) => method === "GET" && streams.includes(EVENT_STREAM))
  .map(({ path }) => path.replaceAll(/\{(\w+)\}/g, (place, name: string) => IDS[name] ?? place))
  .map((path) => (path.endsWith("/requests/stream") ? `${path}?alerts=true` : path));

/** Sends requests to the server. The requests to the graph use kept connections; each request to another listener uses a connection of its own. */
function callerOf({ base_url, control_url, control_key }: RunningPlaza["ready"]) {
  const send = (url: string, init: RequestInit) => fetch(url, { ...init, keepalive: url.startsWith(base_url), tls: { rejectUnauthorized: false } });
  const ask = async (url: string, init: RequestInit) => {
    const response = await send(url, init);
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
    return { status: response.status, body: (await response.json()) as any };
  };
  const key = { authorization: `Bearer ${control_key}` };
  return {
    post: (path: string, token: string, body: Record<string, string>) => {
      const { query, headers } = threeTokens(token);
      return ask(`${base_url}/v26.0/${path}?${query}`, { method: "POST", headers, body: new URLSearchParams(body) });
    },
    control: (method: string, path: string, body?: object) =>
      ask(`${control_url}/v1/worlds${path}`, {
        method,
        headers: { ...key, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    /** Opens a stream. The promise resolves when the stream's first bytes have arrived, with a function that ends the stream. */
    follow: async (path: string): Promise<() => Promise<void>> => {
      const response = await send(control_url + path, { headers: { ...key, accept: EVENT_STREAM } });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toStartWith(": listening");
      return () => reader.cancel();
    },
  };
}

/** The rows in a world's tables that still belong to a process after the process has ended. */
const HELD =
  "SELECT fence FROM work_sessions UNION ALL SELECT fence FROM jobs WHERE fence > 0 UNION ALL SELECT fence FROM webhook_deliveries WHERE fence > 0";

const filesIn = (data: string): string[] => (existsSync(data) ? readdirSync(data).sort() : []);

/** The databases of the test: a file of SQLite, and a schema of PostgreSQL. */
const kinds = {
  sqlite: async (folder: string) => {
    const place = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const data = join(folder, "data");
    return {
      data,
      more: { tls_cert: place("cert.pem", receiverCertificate), tls_key: place("key.pem", receiverKey) },
      heldIn: async (world: string): Promise<unknown[]> => {
        using database = new Database(join(data, `${world}.sqlite`), { readonly: true });
        return database.query(HELD).all();
      },
    };
  },
  postgres: async () => {
    const data = await (await sharedPostgres()).newDatabase();
    return {
      data,
      more: {},
      heldIn: async (world: string): Promise<unknown[]> => {
        const client = new Client({ connectionString: data, options: `-c search_path=plaza_${world}` });
        await client.connect();
        return client
          .query(HELD)
          .then(({ rows }) => rows)
          .finally(() => client.end());
      },
    };
  },
};

onEachDatabase("a stopped server", (kind) => {
  test("leaves no timer, listener, file, connection, process or lease behind", async () => {
    const [folder, temporary] = [temporaryFolder(), temporaryFolder()];
    const { data, more, heldIn } = await kinds[kind](folder);
    const held = Promise.withResolvers<void>();
    const receiver = startReceiver(async (challenge) => {
      await held.promise;
      return new Response(challenge);
    });
    const feedPort = serve(() => new Response(csv(row("b1"), row("b2"))));
    // The test sets the path of the program, because the server starts its ingest process from this path.
    const [before] = process.argv.splice(1, 1, join(import.meta.dir, "cli/plaza.ts"));
    afterThisTest(() => process.argv.splice(1, 1, before as string));
    const given = {
      ...{ ...forTests, rtmp_port: 0, log_level: "silent", world: worldFile(WORLD), watch: true },
      ...{ export: join(folder, "export.json"), recordings: join(folder, "recordings"), callback: receiver.url, data, ...more },
    };

    variables({ TMPDIR: temporary });
    const warned: string[] = [];
    const warn = ({ message }: Error): void => void warned.push(message);
    process.on("warning", warn);
    afterThisTest(() => process.off("warning", warn));
    const left = countLeftBehind();
    const following = () => left.listeners().filter((place) => place.includes("event-stream"));
    const plaza = await startPlaza(readConfig(given, {}, undefined, settings), new Log({ level: "silent", isPretty: false }));
    const { post, control, follow } = callerOf(plaza.ready);
    await plaza.streaming?.listening;
    expect(left.children()).toHaveLength(existsSync("/proc/self/stat") ? 1 : 0);

    for (const leave of await Promise.all(streams.map(follow))) await leave();
    await left.until(() => following().length === 0);
    expect(left.timers().filter((place) => place.includes("stream"))).toEqual([]);
    await Promise.all(streams.map(follow));
    expect(following()).toHaveLength(streams.length);

    expect(await post("2001/custom_labels", "page", { page_label_name: "new" })).toMatchObject({ status: 200 });
    expect(await control("POST", "/default/feeds/8101/uploads", { url: `http://127.0.0.1:${feedPort}/books.csv` })).toMatchObject({ status: 201 });
    expect(await control("GET", "/default/feeds/8101/uploads/1?within_ms=20000")).toMatchObject({ body: { status: "done", items: 2 } });
    expect(await control("POST", "/default/deliveries/trigger", { object: "page", field: "live_videos", entity: "2001" })).toMatchObject({
      status: 200,
    });
    await left.until(() => receiver.posts.length > 0);
    expect(await control("POST", "", { name: "second" })).toMatchObject({ status: 201 });
    expect(await control("POST", "/second/reset")).toMatchObject({ status: 200 });
    expect((await heldIn("default")).length).toBeGreaterThan(0);

    const wanted = { object: "page", callback_url: receiver.url, verify_token: "v", fields: "live_videos" };
    const verifying = post("1001/subscriptions", "app", wanted);
    await left.until(() => receiver.handshakes.length > 0);
    const stopping = plaza.stop();
    held.resolve();
    expect(await verifying).toMatchObject({ status: 200 });
    await stopping;
    expect({ timers: left.timers(), listeners: left.listeners(), warned }).toEqual({ timers: [], listeners: [], warned: [] });
    await left.until(() => left.files().length + left.children().length === 0);
    expect({ files: left.files(), children: left.children() }).toEqual({ files: [], children: [] });
    expect(readdirSync(temporary)).toEqual([]);
    expect(filesIn(data)).toEqual(kind === "sqlite" ? ["control.key", "default.sqlite", "plaza.lock", "second.sqlite", "secret.key"] : []);
    expect([...(await heldIn("default")), ...(await heldIn("second"))]).toEqual([]);
  });
});
