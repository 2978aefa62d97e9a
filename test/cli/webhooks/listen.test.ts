/** Checks the subscriptions, the output and the restored settings of `plaza listen`. `webhooks.slow.test.ts` checks the forwarded requests. */
import { afterEach, expect, test } from "bun:test";
import { freePort } from "#harness/processes/free-port";
import { startReceiver } from "#harness/receiver";
import { type Server, startServer, worldFile } from "#harness/server";
import { endAll, runPlaza, spawnPlaza } from "../plaza-process.ts";

afterEach(endAll);

const world = {
  apps: [
    {
      id: "1001",
      secret: "s3cret",
      subscriptions: [{ object: "page", fields: ["custom_labels"], callback: { url: "https://receiver.example/labels", verified: true } }],
    },
    { id: "1002", secret: "other" },
  ],
  pages: [{ id: "2001", subscribed_apps: [{ app: "1002", subscribed_fields: ["live_videos"] }] }, { id: "2002" }],
  chatapp_accounts: [{ id: "4001" }, { id: "4002", subscribed_apps: [{ app: "1001" }] }],
  social_accounts: [{ id: "6001" }],
};
const accounts = ["apps/1001", "pages/2001", "pages/2002", "chatapp_accounts/4001", "chatapp_accounts/4002", "social_accounts/6001"];

const envOf = ({ control_url, control_key }: Server) => ({ PLAZA_CONTROL_URL: control_url, PLAZA_CONTROL_KEY: control_key });

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any entry.
const nodes = ({ control_url, control_key }: Server): Promise<any[]> =>
  Promise.all(
    accounts.map(async (path) =>
      (await fetch(`${control_url}/v1/worlds/default/nodes/${path}`, { headers: { authorization: `Bearer ${control_key}` } })).json(),
    ),
  );

/** Runs `plaza listen`. `lines` collects the lines that the command prints after this call. */
async function listen(server: Server, args: readonly string[]) {
  const listening = spawnPlaza(["listen", "--app", "1001", ...args], { env: envOf(server) });
  const lines = linesOf(args.includes("--print-json") ? listening.stderr : listening.stdout);
  const first = (await lines.next()).value as string;
  expect(first).toStartWith("receiving the webhooks of app 1001 at ");
  const end = async () => {
    listening.kill("SIGINT");
    expect(await listening.exited).toBe(0);
  };
  const url = / at (http:\/\/[^;,]+)/.exec(first)?.[1] as string;
  return { listening, lines, url, end };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

const trigger = (server: Server, args: readonly string[]) => runPlaza(["trigger", ...args], { env: envOf(server) });

test("it subscribes the app and its accounts to the named events, prints the secret, and restores everything", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const before = await nodes(server);
  const { lines, end } = await listen(server, ["--events", "messages,page.live_videos"]);
  expect((await lines.next()).value).toBe("until Ctrl-C the app is also subscribed to 4 further accounts and pages");
  expect((await lines.next()).value).toBe("signing secret: s3cret (for a Standard Webhooks library: whsec_czNjcmV0)");
  const [app, page, , account] = await nodes(server);
  expect(app.subscriptions).toEqual([
    { object: "chatapp_business_account", fields: ["messages"] },
    { object: "page", fields: ["live_videos"] },
    { object: "social", fields: ["messages"] },
  ]);
  expect(page.subscribed_apps).toContainEqual({ app: "1001", subscribed_fields: ["live_videos"] });
  expect(page.subscribed_apps).toContainEqual({ app: "1002", subscribed_fields: ["live_videos"] });
  expect(account.subscribed_apps).toEqual([{ app: "1001" }]);
  expect((await trigger(server, ["messages", "--entity", "4001"])).code).toBe(0);
  expect((await lines.next()).value).toContain(" chatapp_business_account 4001 messages msg_");
  expect((await trigger(server, ["custom_labels"])).stderr).toContain("no app gets custom_labels");
  await end();
  expect(await nodes(server)).toEqual(before);
});

test("without --events an app keeps its own subscriptions, even those with their own callback, and --no-subscribe does not change accounts", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const before = await nodes(server);
  const own = await listen(server, []);
  const changed = await nodes(server);
  expect(changed[0].subscriptions).toEqual([{ object: "page", fields: ["custom_labels"] }]);
  expect(changed.slice(3)).toEqual(before.slice(3));
  expect((await trigger(server, ["custom_labels", "--entity", "2002"])).code).toBe(0);
  await own.end();
  const alone = await listen(server, ["--no-subscribe", "--events", "*"]);
  expect((await nodes(server)).slice(1)).toEqual(before.slice(1));
  await alone.end();
  expect(await nodes(server)).toEqual(before);
});

test("others' changes while it listens stay, and deleted nodes are not an error", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const { end } = await listen(server, ["--events", "page.live_videos"]);
  const send = (method: string, path: string, body?: object) =>
    fetch(`${server.control_url}/v1/worlds/default/nodes/${path}`, {
      method,
      headers: { authorization: `Bearer ${server.control_key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  await send("PATCH", "pages/2001", { name: "Renamed", subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] });
  await send("DELETE", "pages/2002");
  await end();
  expect((await nodes(server))[1]).toMatchObject({ name: "Renamed", subscribed_apps: [] });
});

test("the later of two on one app receives; they restore everything, whichever ends first", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const before = await nodes(server);
  for (const firstToEnd of [0, 1]) {
    const one = await listen(server, ["--events", "messages"]);
    const other = await listen(server, ["--events", "messages,page.live_videos"]);
    const left = firstToEnd === 0 ? other : one;
    await [one, other][firstToEnd]?.end();
    const [app, , , account] = await nodes(server);
    expect({ firstToEnd, url: app.callback.url, subscribed: account.subscribed_apps }).toEqual({
      firstToEnd,
      url: left.url,
      subscribed: [{ app: "1001" }],
    });
    expect((await trigger(server, ["messages", "--entity", "4001"])).code).toBe(0);
    while (!((await left.lines.next()).value as string).includes(" chatapp_business_account 4001 messages msg_"));
    await left.end();
    expect({ firstToEnd, nodes: await nodes(server) }).toEqual({ firstToEnd, nodes: before });
  }
});

test("the first of three on one app can end first: its subscriptions stay for the others, and are removed with the last one", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const before = await nodes(server);
  const [one, other, last] = [await listen(server, ["--events", "messages"]), await listen(server, []), await listen(server, [])];
  await one.end();
  await last.end();
  const [app, , , account] = await nodes(server);
  expect({ url: app.callback.url, subscribed: account.subscribed_apps }).toEqual({ url: other.url, subscribed: [{ app: "1001" }] });
  await other.end();
  expect(await nodes(server)).toEqual(before);
});

test("the middle one of three on one app can end first; a callback that somebody else has set stays", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const before = await nodes(server);
  const [one, other, last] = [await listen(server, ["--events", "messages"]), await listen(server, []), await listen(server, [])];
  await other.end();
  await last.end();
  expect((await nodes(server))[0].callback.url).toBe(one.url);
  await one.end();
  expect(await nodes(server)).toEqual(before);
  const { end } = await listen(server, ["--events", "messages"]);
  const callback = { url: "https://receiver.example/new", verify_token: "v", verified: true };
  await fetch(`${server.control_url}/v1/worlds/default/nodes/apps/1001`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${server.control_key}` },
    body: JSON.stringify({ callback }),
  });
  await end();
  const [app, ...accountsLeft] = await nodes(server);
  expect(app.callback).toEqual(callback);
  expect(accountsLeft).toEqual(before.slice(1));
});

test("--print-json prints only the exact bodies on stdout, and --print-secret prints the secret and ends", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const receiver = startReceiver();
  const { listening, url, end } = await listen(server, ["--print-json", "--events", "*", "--forward-to", receiver.url.replace("http://", "")]);
  const bodies = linesOf(listening.stdout);
  expect((await trigger(server, ["custom_labels", "--override", "label.name=Grüße"])).code).toBe(0);
  const body = (await bodies.next()).value as string;
  expect(body).toBe(receiver.posts[0]?.body as string);
  expect(JSON.parse(body).entry[0].changes[0].value.label.name).toBe("Grüße");
  // Any program may send requests to the listener.
  const noWebhook = await fetch(url, { method: "POST", body: "\u001b[31m" });
  expect(noWebhook.status).toBe(400);
  await end();
  expect(await runPlaza(["listen", "--app", "1001", "--print-secret"], { env: envOf(server) })).toEqual({ code: 0, stdout: "s3cret\n", stderr: "" });
});

test("it reports that its server has ended, and continues with the next one, even if that knows nothing of it", async () => {
  const port = freePort();
  const key = "a-key-of-24-characters-x";
  const start = () => startServer(["--data", ":memory:", "--world", worldFile(world), "--control-port", String(port)], { PLAZA_CONTROL_KEY: key });
  const server = await start();
  const shown = async (of: Server) => {
    const [{ callback, subscriptions }] = await nodes(of);
    return { callback, subscriptions };
  };
  const before = await shown(server);
  const { listening, lines, end } = await listen(server, ["--events", "page.live_videos"]);
  const next = async (text: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`it ended before it said ${text}: ${await new Response(listening.stderr).text()}`);
      if (value.includes(text)) return value;
    }
  };
  await next("signing secret");
  await server.kill();
  expect(await next("the server")).toBe("the server has ended; plaza listen waits until the server is back; press Ctrl-C to end the wait");
  const another = await start();
  await next("the server is back");
  expect((await trigger(another, ["page.live_videos", "--entity", "2001"])).code).toBe(0);
  expect(await next("live_videos")).toContain("page 2001 live_videos");
  await end();
  expect(await shown(another)).toEqual(before);
});

test("it ends if its server is gone, and says what stays behind", async () => {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world)]);
  const { listening, lines, url } = await listen(server, []);
  await server.kill();
  for (let line = ""; !line.includes("the server has ended"); ) line = (await lines.next()).value as string;
  listening.kill("SIGINT");
  expect(await new Response(listening.stderr).text()).toBe(
    `plaza: no server responds, so ${url} is still the callback of app 1001 in the server's data\n`,
  );
  expect(await listening.exited).toBe(0);
});
