/** D-240: checks that a sandbox refuses web pages of other sites before it reads their requests. */
import { describe, expect, test } from "bun:test";
import { echo, serveEcho } from "#harness/echo-graph";
import { exchange, type RawResponse } from "#harness/http/raw-http";
import { PageGuard } from "#kernel/page-guard";
import type { RouteHandler } from "./routes/extra-routes.ts";

const FOREIGN = "Host: localhost\r\nOrigin: https://evil.example\r\n";

describe("requests of web pages", () => {
  async function open() {
    const served: string[] = [];
    const graph = await serveEcho({
      pages: new PageGuard({ origins: ["https://app.example.com"], hosts: ["plaza"] }),
      trustedProxies: ["127.0.0.0/8"],
      extraRoutes: new Map<string, RouteHandler>([["/player/", () => new Response("video")]]),
      handleRequest: (_deps, world, request) => {
        served.push(`${request.method} ${request.path}`);
        return echo(world, request);
      },
    });
    const ask = async (line: string, headers: string, body = ""): Promise<RawResponse & { isClosed: boolean }> => {
      const length = body === "" ? "" : `Content-Length: ${body.length}\r\n`;
      const { responses, text } = await exchange(graph.port, [`${line} HTTP/1.1\r\n${headers}${length}\r\n${body}`]);
      const [response] = responses;
      if (response === undefined) throw new Error(`there was no response: ${text}`);
      return { ...response, isClosed: response.headers.connection === "close" };
    };
    return { graph, served, ask };
  }

  test("a request of another site's page is refused, in its error form, and changes nothing", async () => {
    const { graph, served, ask } = await open();
    const flat = await ask("POST /v26.0/2001/personas", FOREIGN, "name=x");
    expect({ ...flat, body: JSON.parse(flat.body) }).toMatchObject({
      ...{ status: 403, isClosed: true },
      body: { code: 200, message: expect.stringContaining("--allow-origin") },
    });
    for (const line of ["GET /v26.0/1001", "POST /v26.0/1001/subscriptions", "DELETE /v26.0/1", "OPTIONS /v26.0/1001"]) {
      const { status, body } = await ask(line, FOREIGN);
      expect({ line, status, code: JSON.parse(body).error.code }).toEqual({ line, status: 403, code: 200 });
    }
    for (const headers of [
      "Host: evil.example\r\n",
      "Host: plaza\r\nX-Forwarded-Host: evil.example\r\n",
      "Host: h\r\nSec-Fetch-Site: cross-site\r\n",
    ]) {
      expect((await ask("GET /v26.0/1001", headers)).status).toBe(403);
    }
    expect(served).toEqual([]);
    expect(graph.world.requests.entries()).toHaveLength(8);
    await graph.stop(0);
  });

  test("loopback, allowed pages, programs and followed links are served; the player is for every page", async () => {
    const { graph, ask } = await open();
    const followed = "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    const headers = [
      ...["Host: localhost\r\n", "Host: 127.0.0.1:4000\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: cross-site\r\n", followed],
      ...["Host: plaza:1\r\nOrigin: https://app.example.com\r\n", "Host: evil.example\r\nX-Forwarded-Host: plaza\r\n"],
    ];
    for (const each of headers) expect({ each, status: (await ask("GET /v26.0/1001", each)).status }).toEqual({ each, status: 200 });
    expect((await ask("OPTIONS /v26.0/1001", "Host: localhost\r\nOrigin: http://localhost:3000\r\n")).status).toBe(204);
    expect(await ask("GET /player/1", `${FOREIGN}Sec-Fetch-Site: cross-site\r\nConnection: close\r\n`)).toMatchObject({ status: 200 });
    await graph.stop(0);
  });
});
