import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { exchange } from "#harness/http/raw-http";
import { tries } from "#harness/proof";
import { type Server, startServer } from "#harness/server";
import { proxyNames, startProxy } from "./start-proxy.ts";

const REQUESTS = tries(2_000, 20_000);
const CLIENTS = 16;
/** One of ten requests reports an event, in chunks. */
const EVERY = 10;

const TOKEN = "access_token=demo-page-token";
const LABELS = `/v26.0/2001/custom_labels?${TOKEN}&limit=1`;

async function open(proxy: (typeof proxyNames)[number]): Promise<{ server: Server; port: number; url: string }> {
  const server = await startServer([
    "--data",
    ":memory:",
    "--profile",
    "clients",
    "--trusted-proxies",
    "127.0.0.0/8",
    "--allow-host",
    "h,graph.test",
  ]);
  const port = await startProxy(proxy, new URL(server.base_url).host);
  return { server, port, url: `http://127.0.0.1:${port}` };
}

const control = async (server: Server, path: string): Promise<Record<string, unknown>> => {
  const response = await fetch(`${server.control_url}/v1/worlds/default/${path}`, { headers: { authorization: `Bearer ${server.control_key}` } });
  return (await response.json()) as Record<string, unknown>;
};

const post = (headers: string, body = ""): string =>
  `POST /v26.0/1001/activities HTTP/1.1\r\nHost: graph.test\r\nAuthorization: Bearer demo-app-token\r\nContent-Type: application/x-www-form-urlencoded\r\n${headers}\r\n${body}`;

const event = (id: string): string =>
  `event=CUSTOM_APP_EVENTS&advertiser_id=device-1&custom_events=${encodeURIComponent(JSON.stringify([{ _eventName: "behind_a_proxy", event_id: id }]))}`;

const inChunks = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** The number of connections of this machine to a port, including those that were closed in the last minute. */
const connectionsTo = (url: string): number => {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .filter((line) => line.trim().split(/\s+/)[2]?.endsWith(`:${port}`)).length;
};

describe.each(proxyNames)("behind %s", (proxy) => {
  test("links begin with the client's address of the server, and the client's own address is known", async () => {
    const { server, port } = await open(proxy);
    const get = `GET ${LABELS} HTTP/1.1\r\nHost: graph.test\r\n\r\n`;
    await fetch(`${server.base_url}/v26.0/2001/custom_labels?${TOKEN}`, {
      method: "POST",
      body: new URLSearchParams({ page_label_name: "second" }),
    });
    const listed = await exchange(port, [get]);
    expect((JSON.parse(listed.responses[0]?.body ?? "") as { paging: { next: string } }).paging.next).toStartWith("https://graph.test/v26.0/2001/");
    // The proxy replaces the `X-Forwarded-For` header that the client sent with the client's address.
    const body = event("e1");
    const reported = await exchange(port, [post(`X-Forwarded-For: 203.0.113.7\r\nContent-Length: ${body.length}\r\n`, body)]);
    expect(reported.responses[0]?.status).toBe(200);
    expect((await control(server, "app-events/1001")).data).toMatchObject([{ event_id: "e1", ip: "127.0.0.1" }]);
  });

  test("several requests on one connection, bodies in chunks, and 100 Continue", async () => {
    const { server, port } = await open(proxy);
    const [one, two, three] = [event("c1"), event("c2"), event("c3")];
    const kept = await exchange(
      port,
      [
        post("Transfer-Encoding: chunked\r\n", inChunks(one)),
        `GET ${LABELS} HTTP/1.1\r\nHost: h\r\n\r\n`,
        post(`Content-Length: ${two.length}\r\n`, two),
      ],
      { responses: 3, gapMs: 100 },
    );
    expect(kept.responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const continued = await exchange(port, [post(`Content-Length: ${three.length}\r\nExpect: 100-continue\r\n`), three], {
      awaits: "100 Continue",
    });
    expect(continued.text).toContain("100 Continue");
    expect(continued.responses[0]?.status).toBe(200);
    const logged = (await control(server, "app-events/1001")).data as { event_id: string }[];
    expect(logged.map(({ event_id }) => event_id).sort()).toEqual(["c1", "c2", "c3"]);
  });

  test(`none of ${REQUESTS} requests is lost, and connections to the server are reused`, async () => {
    const { server, url } = await open(proxy);
    let next = 0;
    const statuses = new Map<number, number>();
    const work = async (): Promise<void> => {
      while (next < REQUESTS) {
        const nth = next++;
        const response =
          nth % EVERY === 0
            ? await fetch(`${url}/v26.0/1001/activities`, {
                method: "POST",
                headers: { authorization: "Bearer demo-app-token", "content-type": "application/x-www-form-urlencoded" },
                // The body is a stream without a known length, so the request is sent in chunks.
                body: new Response(event(`n${nth}`)).body,
              })
            : await fetch(`${url}${LABELS}`);
        await response.arrayBuffer();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, work));
    expect([...statuses]).toEqual([[200, REQUESTS]]);
    const names = (await control(server, "app-events/1001/names")).data as { name: string; count: number }[];
    expect(names.find(({ name }) => name === "behind_a_proxy")?.count).toBe(REQUESTS / EVERY);
    expect(connectionsTo(server.base_url)).toBeLessThan(REQUESTS / EVERY);
  });
});
