/**
 * Health checks for load balancers and orchestrators (D-349): `/healthz` and `/readyz`, on the port of the graph and on the port of the control API.
 */
import { within } from "#kernel/turns";
import type { RequestHead } from "../http1/request-head.ts";
import type { TextResponse } from "../http1/response-writer.ts";

/** `draining`: the server still serves, and will end soon. `unavailable`: the database does not respond. */
export type Readiness = "ready" | "draining" | "unavailable";

/** The time that the database has to respond. Load balancers give a check some seconds. */
const PING_WITHIN_MS = 2_000;

export class Health {
  /** Set when the server is told to end. */
  isDraining = false;
  readonly #ping: () => Promise<void>;
  #checking: Promise<boolean> | undefined;

  /** `ping` rejects if the database does not respond. */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping;
  }

  /** Whether the server is ready. Anybody can ask, so checks that come together share one ping of the database. */
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
 * The response to a health check. Undefined for every other request. The host of the request does not count, because a load balancer asks by an
 * address.
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
