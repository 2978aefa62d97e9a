/** Tests `plaza listen`: its output, the webhooks that it forwards, and the status that the sender gets. */
import { describe, expect, spyOn, test } from "bun:test";
import { ControlRefusal, type ControlRequests } from "#control/client/requests";
import { afterThisTest } from "#harness/cleanup";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { freePort } from "#harness/processes/free-port";
import { startReceiver } from "#harness/receiver";
import { signatureHeaders } from "#webhooks/delivery/signing";
import { giveBack, isTaken, listen, takeCallback } from "./listen.ts";
import { type AppEntry, findApp, type Subscribed } from "./subscribing.ts";

const WORLD = "/v1/worlds/default";

/** A stand-in for the control API with one app, which stores the values that the command sends. */
function world(app: object = {}) {
  const fresh: Record<string, unknown> = { id: "1001", secret: "s3cret", ...app };
  let stored = fresh;
  let isAway = false;
  const alerts: ReadableStreamDefaultController[] = [];
  const ended = new AbortController();
  afterThisTest(() => ended.abort());
  const stub = controlStub(({ method, path, body }: Asked) => {
    if (path === `${WORLD}/nodes/apps?limit=2`) return { data: [stored] };
    if (path === `${WORLD}/nodes/apps/1001`) {
      if (method === "PATCH") stored = { ...stored, ...(body as object) };
      return stored;
    }
    if (path === `${WORLD}/nodes/pages?limit=50`) return { data: [{ id: "2001" }], paging: {} };
    // The stand-in's stream of alerts sends no alert, and ends when the server ends.
    if (path === `${WORLD}/alerts`)
      return new Response(new ReadableStream({ start: (controller) => void alerts.push(controller) }), {
        headers: { "content-type": "text/event-stream" },
      });
    if (path === `${WORLD}/clock`) return new Response("{}", { status: isAway ? 500 : 200 });
    return { data: [], paging: {} };
  });
  const goAway = (): void => {
    isAway = true;
    for (const one of alerts.splice(0)) one.close();
  };
  /** The server comes back with the same world, or with a new one. */
  const comeBack = (isAnew: boolean): void => {
    if (isAnew) stored = fresh;
    isAway = false;
  };
  return { ...stub, app: () => stored, goAway, comeBack };
}

/** The headers of a signed webhook of the app. */
const signed = (body: string, secret = "s3cret"): Record<string, string> =>
  signatureHeaders([secret], { webhookId: "msg_1", timestamp: 1_795_000_000, body });

/** Listens until the test calls `end`, which resolves with the exit code. */
async function listening(given: Readonly<Record<string, unknown>>, streams: { out: string; err: string }) {
  const code = listen(given);
  while (!`${streams.out}${streams.err}`.includes("signing secret: ")) {
    const failed = await Promise.race([code, Bun.sleep(5)]);
    if (failed !== undefined) throw new Error(`it ended with ${failed}: ${streams.err}`);
  }
  const url = / at (http:\/\/[^;,]+)/.exec(`${streams.out}${streams.err}`)?.[1] as string;
  const send = (body: string, headers: Record<string, string> = {}) => fetch(url, { method: "POST", body, headers: { ...signed(body), ...headers } });
  const end = () => {
    process.emit("SIGINT", "SIGINT");
    return code;
  };
  return { url, send, end };
}

const webhook = (more: object = {}) => ({ object: "page", entry: [{ id: "2001", changes: [{ field: "feed" }] }], ...more });

test("a line names object, nodes, fields, the number of updates where they are several, the id, and the status", async () => {
  const { given } = world();
  const streams = written();
  const { send, end } = await listening(given, streams);
  for (const [body, line] of [
    [webhook(), "page 2001 feed"],
    [webhook({ entry: [{ id: "2001", messaging: [{}] }] }), "page 2001 messages"],
    [webhook({ entry: [{ id: "2001", messaging: [{}, {}] }] }), "page 2001 messages (2)"],
    [webhook({ entry: [{ id: "2001" }] }), "page 2001 messages"],
    [
      webhook({
        entry: [
          { id: "1", changes: [{ field: "a" }, { field: "b" }] },
          { id: "1", changes: [{ field: "a" }] },
          { id: "2", changes: [] },
        ],
      }),
      "page 1, 2 a, b (3)",
    ],
    [webhook({ object: "\u001b[31m" }), "\\u001b[31m 2001 feed"],
  ] as const) {
    streams.out = "";
    expect((await send(JSON.stringify(body))).status).toBe(200);
    expect(streams.out).toBe(`2026-11-18T11:06:40.000Z ${line} msg_1 → 200\n`);
  }
  streams.out = "";
  for (const none of ["", "5", "{}", '{"object":"page","entry":5}', "null"]) expect((await send(none)).status).toBe(400);
  expect(streams.out).toBe("received something that is not a webhook → 400\n".repeat(5));
  expect(await end()).toBe(0);
});

test("D-304: a handshake with a verify token as long as a whole body gets its challenge", async () => {
  const { given } = world();
  const { url, end } = await listening(given, written());
  // Each byte of a body of 1 MiB is percent-encoded in the address, as three characters.
  const token = "%C3%BC".repeat(524_288);
  const response = await fetch(`${url}?hub.mode=subscribe&hub.challenge=123&hub.verify_token=${token}`);
  expect({ status: response.status, body: await response.text() }).toEqual({ status: 200, body: "123" });
  expect(await end()).toBe(0);
});

test("what is handed on has the bytes and the headers of the webhook, and the sender gets the receiver's status", async () => {
  const { given } = world();
  const streams = written();
  const receiver = startReceiver();
  receiver.response = () => new Response("elsewhere", { status: 307, headers: { location: "/elsewhere" } });
  const limits = spyOn(AbortSignal, "timeout");
  afterThisTest(() => limits.mockRestore());
  const { url, end } = await listening({ ...given, forward_to: receiver.url.replace("http://", "") }, streams);
  expect(streams.out).toContain(`, forwarding to ${receiver.url}; Ctrl-C restores the app's callback\n`);
  const body = `${JSON.stringify(webhook())} `;
  const response = await fetch(url, {
    method: "POST",
    body,
    redirect: "manual",
    headers: { ...signed(body), "x-own": "1", connection: "close" },
  });
  expect(response.status).toBe(307);
  // The receiver may take as long as the server waits for a response (D-62).
  expect(limits).toHaveBeenCalledWith(15_000);
  expect(receiver.posts).toHaveLength(1);
  expect(receiver.posts[0]?.body).toBe(body);
  expect(receiver.posts[0]?.headers).toMatchObject({
    ...{ "x-hub-signature-256": signed(body)["X-Hub-Signature-256"], "x-own": "1", "webhook-id": "msg_1", host: new URL(receiver.url).host },
  });
  expect(await end()).toBe(0);
  streams.out = "";
  // No receiver listens at this address.
  const alone = await listening({ ...given, forward_to: "http://127.0.0.1:1/hook" }, streams);
  streams.out = "";
  expect((await alone.send(JSON.stringify(webhook()))).status).toBe(502);
  expect(streams.out.split("\n")).toEqual([
    expect.stringContaining("  http://127.0.0.1:1/hook did not respond: "),
    "2026-11-18T11:06:40.000Z page 2001 feed msg_1 → 502",
    "",
  ]);
  expect(await alone.end()).toBe(0);
});

test("a webhook that the app's secret did not sign is refused and not handed on; a secret that was replaced meanwhile is read again", async () => {
  const stub = world();
  const streams = written();
  const receiver = startReceiver();
  const { send, end } = await listening({ ...stub.given, forward_to: receiver.url }, streams);
  streams.out = "";
  const body = JSON.stringify(webhook());
  for (const signature of [{ "X-Hub-Signature-256": "" }, { "X-Hub-Signature-256": "sha256=é" }, signed(`${body} `), signed(body, "new")])
    expect((await send(body, signature)).status).toBe(401);
  expect(streams.out).toBe("received a webhook that is not signed with the app's secret → 401\n".repeat(4));
  expect(receiver.posts).toEqual([]);
  Object.assign(stub.app(), { secret: "new" });
  expect((await send(body, signed(body, "new"))).status).toBe(200);
  expect(receiver.posts).toHaveLength(1);
  expect(await end()).toBe(0);
});

test("a request for another host and one of a web page are refused, and no page of errors is shown; --public-url names a host", async () => {
  const { given } = world();
  const streams = written();
  const port = freePort();
  const { end } = await listening({ ...given, port, public_url: "https://tunnel.example/hook", subscribe: false }, streams);
  const body = JSON.stringify(webhook());
  const statusOf = async (headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", body, headers: { ...signed(body), ...headers } });
    expect(response.headers.get("content-type") ?? "").not.toContain("html");
    return response.status;
  };
  expect(await statusOf({ host: "elsewhere.example" })).toBe(403);
  expect(await statusOf({ origin: "https://elsewhere.example" })).toBe(403);
  expect(await statusOf({ host: "tunnel.example" })).toBe(200);
  expect(await end()).toBe(0);
});

test("with --print-json stdout holds the bodies alone", async () => {
  const { given } = world();
  const streams = written();
  const { send, end } = await listening({ ...given, print_json: true }, streams);
  const body = `${JSON.stringify(webhook())} `;
  await send(body);
  await send("none");
  expect(streams.out).toBe(`${body}\n`);
  // On a terminal, the webhooks are printed over several lines.
  const { isTTY } = process.stdout;
  afterThisTest(() => Object.assign(process.stdout, { isTTY }));
  Object.assign(process.stdout, { isTTY: true });
  streams.out = "";
  await send(body);
  expect(streams.out).toBe(`${JSON.stringify(webhook(), undefined, 2)}\n`);
  expect(await end()).toBe(0);
  expect(streams.err).toContain(" page 2001 feed msg_1 → 200\nreceived something that is not a webhook → 400\n");
});

describe("the app", () => {
  const patches = ({ asked }: { asked: Asked[] }) => asked.filter(({ method }) => method === "PATCH").map(({ path }) => path.slice(WORLD.length));

  test("gets everything where it is subscribed to nothing, and back what it had", async () => {
    const stub = world();
    const streams = written();
    const { url, end } = await listening(stub.given, streams);
    expect(stub.app().callback).toMatchObject({ url, verified: true });
    expect((stub.app().subscriptions as unknown[]).length).toBeGreaterThan(1);
    expect(streams.out).toContain("\nuntil Ctrl-C the app is also subscribed to 2 further accounts and pages\n");
    expect(streams.out).toContain("\nsigning secret: s3cret (for a Standard Webhooks library: whsec_czNjcmV0)\n");
    expect(await end()).toBe(0);
    expect(stub.app()).toMatchObject({ callback: null, subscriptions: [] });
    // The app's subscriptions to page and to catalog both subscribe the page.
    const [taken, page] = ["/nodes/apps/1001", "/nodes/pages/2001"];
    expect(patches(stub)).toEqual([taken, page, page, taken, page, page]);
  });

  test("keeps its own subscriptions unless events are named", async () => {
    const subscriptions = [{ object: "page", fields: ["custom_labels"], callback: { url: "http://own/" } }];
    const stub = world({ subscriptions });
    const streams = written();
    const own = await listening(stub.given, streams);
    expect(stub.app().subscriptions).toEqual([{ object: "page", fields: ["custom_labels"] }]);
    await own.end();
    expect(stub.app().subscriptions).toEqual(subscriptions);
    Object.assign(streams, { out: "" });
    const named = await listening({ ...stub.given, events: "page.live_videos", subscribe: false, public_url: "http://public/" }, streams);
    expect(stub.app()).toMatchObject({ callback: { url: "http://public/" }, subscriptions: [{ object: "page", fields: ["live_videos"] }] });
    expect(streams.out).toStartWith("receiving the webhooks of app 1001 at http://public/; Ctrl-C restores the app's callback\nsigning secret");
    await named.end();
    expect(stub.app().subscriptions).toEqual(subscriptions);
    // Only the first listener subscribed the page and restored the page's subscriptions.
    expect(patches(stub).filter((path) => path === "/nodes/pages/2001")).toHaveLength(2);
  });

  test.each([false, true])("is taken again from a server that comes back only where that has another world: %p", async (isAnew) => {
    const stub = world();
    const streams = written();
    // The listener looks for the server each second; in this test the timer of a second fires at once. All timers except the
    // listener's timer run as usual.
    let seconds = 0;
    const setTimer = globalThis.setTimeout;
    const spy = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms = 0, ...more: unknown[]) => {
      if (ms === 1_000) seconds++;
      return setTimer(then, ms === 1_000 ? 1 : ms, ...more);
    }) as unknown as typeof setTimeout);
    afterThisTest(() => spy.mockRestore());
    const { url, end } = await listening(stub.given, streams);
    const said = async (line: string) => {
      while (!streams.out.includes(line)) await Bun.sleep(5);
    };
    const [taken, page] = ["/nodes/apps/1001", "/nodes/pages/2001"];
    expect(patches(stub)).toEqual([taken, page, page]);
    stub.goAway();
    await said("the server has ended; plaza listen waits until the server is back; press Ctrl-C to end the wait\n");
    stub.comeBack(isAnew);
    await said("the server is back\n");
    expect(seconds).toBeGreaterThan(0);
    expect(patches(stub).slice(3)).toEqual(isAnew ? [taken, page, page] : []);
    expect(stub.app().callback).toMatchObject({ url });
    stub.asked.length = 0;
    expect(await end()).toBe(0);
    // The subscriptions of the old world are not restored in the new world.
    expect(patches(stub)).toEqual([taken, page, page]);
    expect(stub.app()).toMatchObject({ callback: null });
  });

  test("shows its secret, and nothing else is asked", async () => {
    const stub = world();
    const streams = written();
    expect(await listen({ ...stub.given, print_secret: true })).toBe(0);
    expect(streams.out).toBe("s3cret\n");
    expect(stub.asked).toHaveLength(1);
  });
});

test("the receiver's address may be a port, a host or an http address, and nothing else", async () => {
  const { given, asked } = world();
  const streams = written();
  for (const [address, full] of [
    ["3000", "http://localhost:3000"],
    ["3000/hook", "http://localhost:3000/hook"],
    ["3000.example/hook", "http://3000.example/hook"],
    ["receiver:80", "http://receiver:80"],
    ["https://receiver/", "https://receiver/"],
  ]) {
    Object.assign(streams, { out: "" });
    const { end } = await listening({ ...given, forward_to: address, subscribe: false }, streams);
    await end();
    expect(streams.out).toContain(`, forwarding to ${full}; `);
  }
  for (const address of ["ftp://receiver/", "http://", "a b"]) {
    Object.assign(streams, { err: "" });
    asked.length = 0;
    expect(await listen({ ...given, forward_to: address })).toBe(2);
    expect(streams.err).toBe(`plaza: --forward-to: "${address}" is not an http address\n`);
    expect(asked).toHaveLength(1);
  }
});

/** The callback that an app has before several listeners begin, one after another, and end in any order. */
const OWN = { url: "http://own/", verify_token: "own", verified: true };
const SUBSCRIPTIONS = [{ object: "page", fields: ["feed"], callback: { url: "http://pages/" } }] as const;

/** An app as the control API stores it, and the pages that were restored. */
function appWith(entry: Partial<AppEntry> = { callback: OWN, subscriptions: SUBSCRIPTIONS }) {
  const state = { app: { id: "1001", secret: "s3cret", ...entry } as AppEntry | undefined };
  const changes: string[] = [];
  const control = {
    request: async (method: string, path: string, body?: Partial<AppEntry>) => {
      if (!path.startsWith("nodes/apps")) {
        if (method === "PATCH") changes.push(path);
        return { id: path };
      }
      if (state.app === undefined) throw new ControlRefusal("there is no app 1001");
      if (method === "PATCH") {
        changes.push("app");
        const { callback, ...rest } = { ...state.app, ...body };
        state.app = callback === null ? (rest as AppEntry) : ({ ...rest, callback } as AppEntry);
      }
      return state.app;
    },
  } as unknown as ControlRequests;
  /** Replaces the callback of the app, as the listener at `url` does, and returns the function that ends the listener. */
  const listen = async (url: string, fields?: Parameters<typeof takeCallback>[3]) => {
    await takeCallback(control, await findApp(control, "1001"), url, fields);
    const page: Subscribed = { object: "page", id: new URL(url).hostname, before: { id: "" } };
    return () => giveBack(control, "1001", url, [page]);
  };
  /** The restored pages, in alphabetical order. */
  const pages = () => changes.filter((path) => path !== "app").sort();
  return { state, control, listen, changes, pages };
}

const URLS = ["http://a/", "http://b/", "http://c/"] as const;
const PAGES = ["nodes/pages/a", "nodes/pages/b", "nodes/pages/c"];

describe("the last one that took it receives", () => {
  test("all that the app is subscribed to, at one address, or what is named", async () => {
    const { state, listen } = appWith();
    await listen("http://a/");
    expect(state.app).toMatchObject({ callback: { url: "http://a/", verified: true }, subscriptions: [{ object: "page", fields: ["feed"] }] });
    expect(state.app?.subscriptions?.[0]).not.toHaveProperty("callback");
    await listen("http://b/", { social: ["comments"] });
    expect(state.app).toMatchObject({ callback: { url: "http://b/" }, subscriptions: [{ object: "social", fields: ["comments"] }] });
    expect(URLS.map((url) => isTaken(state.app as AppEntry, url))).toEqual([true, true, false]);
    expect(isTaken(appWith().state.app as AppEntry, "http://a/")).toBe(false);
    expect(isTaken({ id: "1", secret: "" }, "http://a/")).toBe(false);
  });

  test.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
    "and in whichever order three of them end, %j, the app is as it was, and each page is given back once, at the end",
    async (order) => {
      for (const before of [{ callback: OWN, subscriptions: SUBSCRIPTIONS }, { subscriptions: SUBSCRIPTIONS }, {}]) {
        const { state, listen, pages } = appWith(before);
        const original = { subscriptions: [], ...state.app } as AppEntry;
        const ends = [await listen(URLS[0]), await listen(URLS[1]), await listen(URLS[2])];
        const left = new Set([0, 1, 2]);
        for (const one of order) {
          await ends[one]?.();
          left.delete(one);
          const newest = Math.max(...left);
          if (left.size > 0) {
            expect(state.app?.callback?.url).toBe(URLS[newest] as string);
            for (const each of left) expect(isTaken(state.app as AppEntry, URLS[each] as string)).toBe(true);
            expect(isTaken(state.app as AppEntry, URLS[one] as string)).toBe(false);
          }
        }
        expect(state.app).toEqual(original);
        expect(pages()).toEqual(PAGES);
      }
    },
  );
});

test("one that begins when another has ended gives back what was left by that one, too, and its note holds no other's", async () => {
  const { state, listen, pages } = appWith();
  const original = state.app;
  const [endA, endB] = [await listen("http://a/"), await listen("http://b/")];
  await endA();
  const length = state.app?.callback?.verify_token?.length as number;
  const endC = await listen("http://c/");
  // The verify token contains each earlier callback only once.
  expect(state.app?.callback?.verify_token?.length).toBeLessThan(2 * length);
  expect(pages()).toEqual([]);
  await endB();
  await endC();
  expect(state.app).toEqual(original);
  expect(pages()).toEqual(PAGES);
});

test("what somebody else has made the callback since then stays, and pages are given back all the same", async () => {
  const { state, listen, pages, control } = appWith();
  const end = await listen("http://a/");
  const other = { url: "http://other/", verified: true };
  await control.request("PATCH", "nodes/apps/1001", { callback: other });
  await end();
  expect(state.app?.callback).toEqual(other);
  expect(pages()).toEqual(["nodes/pages/a"]);
});

test("a listener whose world was made anew leaves the app to the one that has taken it there", async () => {
  const { state, listen, pages } = appWith();
  const original = state.app;
  const endA = await listen("http://a/");
  state.app = original;
  const endB = await listen("http://b/");
  await endA();
  expect(state.app?.callback?.url).toBe("http://b/");
  expect(pages()).toEqual(["nodes/pages/a"]);
  await endB();
  expect(state.app).toEqual(original);
});

test("an app that was deleted is no error; a server that does not respond is", async () => {
  const { state, listen, pages } = appWith();
  const end = await listen("http://a/");
  state.app = undefined;
  await end();
  expect(pages()).toEqual(["nodes/pages/a"]);
  const away = { request: () => Promise.reject(new Error("no server")) } as unknown as ControlRequests;
  await expect(giveBack(away, "1001", "http://a/", [])).rejects.toThrow("no server");
});
