import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import { GuardedClient } from "#outbound/client";
import type { OutboundRequest } from "#outbound/request";
import { verifyCallback } from "./handshake.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

function serve(response: (url: URL, request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", maxRequestBodySize: 1e7, fetch: (request) => response(new URL(request.url), request) });
  closings.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}/hook`;
}

function sandboxClient(): GuardedClient {
  const client = new GuardedClient({ rules: { isSandbox: true, allowed: [] } });
  closings.push(() => client.close());
  return client;
}

const challengeOf = (url: URL): string => url.searchParams.get("hub.challenge") ?? "";
const codeOf = (verified: Promise<void>): Promise<number | undefined> => verified.then(() => undefined).catch((error) => error.entry.code);

test("D-61: the callback gets mode, challenge and token, and passes by returning the challenge", async () => {
  const asked: { method: string; path: string; query: Record<string, string> }[] = [];
  const url = serve((at, request) => {
    asked.push({ method: request.method, path: at.pathname, query: Object.fromEntries(at.searchParams) });
    return new Response(challengeOf(at));
  });
  const client = sandboxClient();
  await verifyCallback(client, `${url}?a=1#part`, "tok en&=ä");
  await verifyCallback(client, url, "t");
  const challenge = expect.stringMatching(/^\d{10,15}$/);
  expect(asked).toEqual([
    { method: "GET", path: "/hook", query: { a: "1", "hub.mode": "subscribe", "hub.challenge": challenge, "hub.verify_token": "tok en&=ä" } },
    { method: "GET", path: "/hook", query: { "hub.mode": "subscribe", "hub.challenge": challenge, "hub.verify_token": "t" } },
  ]);
  expect(asked[0]?.query["hub.challenge"]).not.toBe(asked[1]?.query["hub.challenge"]);
});

test("D-61: the callback has ten seconds, and up to a kilobyte of its response is read", async () => {
  const asked: OutboundRequest[] = [];
  const client = {
    async request(request: OutboundRequest) {
      asked.push(request);
      return { status: 200, body: Buffer.from(new URLSearchParams(request.moreQuery).get("hub.challenge") ?? ""), isCut: false };
    },
  };
  await verifyCallback(client as unknown as GuardedClient, "https://receiver.example/", "t");
  expect(asked).toMatchObject([{ method: "GET", deadlineMs: 10_000, responseBytesMax: 1_024 }]);
});

test("H1-6: any verify token arrives unchanged, however long", async () => {
  let token = "";
  const url = serve((at) => {
    token = at.searchParams.get("hub.verify_token") ?? "";
    return new Response(challengeOf(at));
  });
  const client = sandboxClient();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (given) => {
      await verifyCallback(client, url, given);
      expect(token).toBe(given);
    }),
    { numRuns: 50 },
  );
  await verifyCallback(client, url, "x".repeat(12_000));
  expect(token).toHaveLength(12_000);
});

test.each([
  ["another text", () => new Response("hello"), 2201],
  ["an empty body", () => new Response(""), 2201],
  ["the challenge in JSON", (at: URL) => Response.json({ challenge: challengeOf(at) }), 2201],
  ["the challenge with a line end", (at: URL) => new Response(`${challengeOf(at)}\n`), undefined],
  ["status 201", (at: URL) => new Response(challengeOf(at), { status: 201 }), 2200],
  ["status 403", (at: URL) => new Response(challengeOf(at), { status: 403 }), 2200],
  ["a redirect", (at: URL) => Response.redirect(`http://127.0.0.1:1/?${at.search}`), 2200],
])("D-61: %s", async (_what, response, code) => {
  expect(await codeOf(verifyCallback(sandboxClient(), serve(response), "t"))).toBe(code as number);
});

test("the error shows the expected and the actual response", async () => {
  const messageOf = (response: Parameters<typeof serve>[0]) => verifyCallback(sandboxClient(), serve(response), "t").catch(({ message }) => message);
  const failed = "Callback verification failed: the response must";
  expect(await messageOf(() => new Response("", { status: 404 }))).toBe(`(#2200) ${failed} have the status 200, but its status is 404`);
  for (const [body, shown] of [
    ["", "empty"],
    ["<h1>Grüße</h1>\n", '"<h1>Grüße</h1>"'],
    ["𝄞".repeat(101), `"${"𝄞".repeat(100)}"…`],
  ] as const) {
    expect(await messageOf(() => new Response(body))).toMatch(new RegExp(`^\\(#2201\\) ${failed} be the challenge \\d{10,15}, and is ${shown}$`));
  }
});

test.each(["https://10.0.0.1/hook", "https://localhost/hook", "http://hooks.example.com/", "https://u:p@hooks.example.com/", "no address"])(
  "D-64: %p is refused with 2200 before anything is sent",
  async (url) => {
    const client = new GuardedClient({ rules: { isSandbox: false, allowed: [] }, resolve: () => Promise.reject(new Error("must not be asked")) });
    expect(await codeOf(verifyCallback(client, url, "t"))).toBe(2200);
  },
);

test("D-64: an error names no address that a name resolved to", async () => {
  const client = new GuardedClient({ rules: { isSandbox: false, allowed: [] }, resolve: async () => ["10.20.30.40", "fd00::77"] });
  closings.push(() => client.close());
  const error = await verifyCallback(client, "https://hooks.example.com/", "t").catch((thrown) => thrown);
  expect(error.entry.code).toBe(2200);
  const problem = "hooks.example.com leads to an address that may not be called; --allow-callback hooks.example.com allows it";
  expect(error.message).toBe(`(#2200) Callback verification failed: ${problem}`);
});

test("without a listener the error is 2200", async () => {
  const url = serve(() => new Response(""));
  await closings.pop()?.();
  expect(await codeOf(verifyCallback(sandboxClient(), url, "t"))).toBe(2200);
});
