/**
 * The callback of cases about webhooks. The receiver responds to handshakes, stores the webhooks, and fails if the path asks for a failure.
 * `{{receiver}}` is the address of the receiver; each case uses a path of its own below that address.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { jsonOf, type Response } from "./response.ts";

export class Receiver {
  readonly #arrived = new Map<string, Response[]>();
  readonly #server: Server;
  #waiting: (() => void)[] = [];
  #address = "";

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { status, body } = this.#take(request, Buffer.concat(chunks).toString("utf8"));
        response.writeHead(status, { "content-type": "text/plain" }).end(body);
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    receiver.#address = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}`;
    return receiver;
  }

  get address(): string {
    return this.#address;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Waits for the webhook with this number (counted from 1) at `path`. Returns undefined if the webhook does not arrive within the time limit. */
  async webhook(path: string, count: number, withinMs: number): Promise<Response | undefined> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = this.#arrived.get(path)?.[count - 1];
      if (found !== undefined || Date.now() >= deadline) return found;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #take(request: IncomingMessage, text: string): { status: number; body: string } {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://receiver");
    if (request.method === "GET") return handshake(pathname, searchParams);
    const arrived = this.#arrived.get(pathname) ?? [];
    const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    arrived.push({ status: 200, headers, text, json: jsonOf(text) });
    this.#arrived.set(pathname, arrived);
    for (const wake of this.#waiting.splice(0)) wake();
    // At `/fails-2/…` the receiver refuses the first two webhooks, at `/fails/…` all webhooks, and at `/gone/…` it responds with 410.
    const failures = /\/fails(?:-(\d+))?(?=\/|$)/.exec(pathname);
    const isRefused = failures !== null && arrived.length <= Number(failures[1] ?? Number.POSITIVE_INFINITY);
    if (isRefused) return { status: 500, body: "refused" };
    return /\/gone(\/|$)/.test(pathname) ? { status: 410, body: "gone" } : { status: 200, body: "ok" };
  }
}

/**
 * Responds to a handshake with status 200 and the challenge as body (D-61). At `/refuses/…` the receiver refuses the handshake, and at
 * `/wrong-challenge/…` it responds with a wrong challenge.
 */
function handshake(path: string, query: URLSearchParams): { status: number; body: string } {
  if (/\/refuses(\/|$)/.test(path)) return { status: 403, body: "refused" };
  if (/\/wrong-challenge(\/|$)/.test(path)) return { status: 200, body: "not the challenge" };
  const demanded = /\/demands-([A-Za-z0-9]+)(\/|$)/.exec(path)?.[1];
  if (demanded !== undefined && query.get("hub.verify_token") !== demanded) return { status: 403, body: "wrong verify_token" };
  return { status: 200, body: query.get("hub.challenge") ?? "" };
}
