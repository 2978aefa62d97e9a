/** Tests which addresses of a host name the client calls, in which order, and with which requests. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { clientOf, get } from "#harness/outbound";

const rules = { isSandbox: true, allowed: [] };

/** Starts servers on the given addresses of this machine, all on one port. Returns the port and the requested paths. */
function serveAt(addresses: readonly string[], respond: (request: Request) => Response = () => new Response("ok")) {
  const asked: string[] = [];
  let port = 0;
  for (const hostname of addresses) {
    const server = Bun.serve({
      ...{ hostname, port },
      fetch: (request) => {
        asked.push(`${hostname} ${new URL(request.url).pathname}${new URL(request.url).search}`);
        return respond(request);
      },
    });
    port = server.port as number;
    afterThisTest(() => server.stop(true));
  }
  return { port, asked };
}

const local = (...ends: readonly number[]): string[] => ends.map((end) => `127.0.0.${end}`);

test("four addresses of a name are tried in order, and no fifth", async () => {
  const fourth = serveAt(local(4));
  const found = await clientOf({ rules, resolve: async () => local(1, 2, 3, 4, 5) }).request(get(`http://many.test:${fourth.port}/`));
  expect([found.status, fourth.asked]).toEqual([200, ["127.0.0.4 /"]]);
  const fifth = serveAt(local(5));
  const client = clientOf({ rules, resolve: async () => local(1, 2, 3, 4, 5) });
  await expect(client.request(get(`http://many.test:${fifth.port}/`))).rejects.toMatchObject({ kind: "connect" });
  expect(fifth.asked).toEqual([]);
});

test("only the first address that accepts a connection is called, whatever it responds", async () => {
  const { port, asked } = serveAt(local(1, 2), () => new Response("no", { status: 500 }));
  const client = clientOf({ rules, resolve: async () => local(1, 2) });
  expect([(await client.request(get(`http://two.test:${port}/a`))).status, asked]).toEqual([500, ["127.0.0.1 /a"]]);
  const garbage = Bun.listen({
    ...{ hostname: "127.0.0.3", port: 0 },
    socket: { data: (socket) => void socket.write("no HTTP\r\n\r\n") },
  });
  afterThisTest(() => garbage.stop(true));
  const beside = Bun.serve({ hostname: "127.0.0.4", port: garbage.port, fetch: () => new Response("beside") });
  afterThisTest(() => beside.stop(true));
  const other = clientOf({ rules, resolve: async () => local(3, 4) });
  await expect(other.request(get(`http://two.test:${garbage.port}/`))).rejects.toMatchObject({ kind: "malformed" });
});

test("further parameters follow those of the address, or begin them", async () => {
  const { port, asked } = serveAt(local(1));
  const client = clientOf({ rules });
  for (const path of ["/a", "/a?b=c", "/"]) {
    await client.request({ ...get(`http://127.0.0.1:${port}${path}`), moreQuery: "d=e" });
    await client.request(get(`http://127.0.0.1:${port}${path}`));
  }
  expect(asked.map((one) => one.slice("127.0.0.1 ".length))).toEqual(["/a?d=e", "/a", "/a?b=c&d=e", "/a?b=c", "/?d=e", "/"]);
});
