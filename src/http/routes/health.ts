/**
 * Health checks for load balancers and orchestrators (D-349): `/healthz` and `/readyz`, on the port of the graph and on the port of the control API.
 */
import { within } from "#kernel/turns";
import type { RequestHead } from "../http1/request-head.ts";
import type { TextResponse } from "../http1/response-writer.ts";

/** `draining` means that the server still serves requests, but will shut down soon. `unavailable` means that the database does not respond. */
export type Readiness = "ready" | "draining" | "unavailable";

/** The time in which the database must respond to a health check. Load balancers wait some seconds for the response to a health check. */
const PING_WITHIN_MS = 2_000;

export class Health {
  /** Whether the server has been told to shut down. */
  isDraining = false;
  readonly #ping: () => Promise<void>;
  #checking: Promise<boolean> | undefined;

  /** The promise of `ping` rejects if the database does not respond. */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping;
  }

  /** Whether the server is ready. Anybody can send health checks, so health checks that arrive together share one ping of the database. */
  async readiness(): Promise<Readiness> {
    if (this.isDraining) return "draining";
    this.#checking ??= this.#isDatabaseThere();
    let isThere = false;
    await within(
      this.#checking.then((is) => {
        isThere = is;
      }),
      PING_WITHIN_MS,
    );
    if (this.isDraining) return "draining";
    return isThere ? "ready" : "unavailable";
  }

  async #isDatabaseThere(): Promise<boolean> {
    try {
      await this.#ping();
      return true;
    } catch {
      return false;
    } finally {
      this.#checking = undefined;
    }
  }
}

/**
 * Returns the response to a health check, or undefined for every other request. The host of the request does not matter, because a load balancer uses
 * an IP address.
 */
export function healthResponse({ method, target }: RequestHead, health: Health): TextResponse | Promise<TextResponse> | undefined {
  const { path } = target;
  if ((path !== "/healthz" && path !== "/readyz") || (method !== "GET" && method !== "HEAD")) return undefined;
  return path === "/healthz" ? word(200, "ok") : readinessResponse(health);
}

async function readinessResponse(health: Health): Promise<TextResponse> {
  const readiness = await health.readiness();
  return word(readiness === "ready" ? 200 : 503, readiness);
}

const word = (status: number, body: string): TextResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body,
});
