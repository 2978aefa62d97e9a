/** Passes requests on to the control API, and tells a recorder which worlds are created, changed and deleted. */
import type { Connection } from "#testing/connection";
import type { Recorder } from "./recorder.ts";

export interface ControlProxy {
  readonly url: string;
  close(): void;
}

/** Changes the body of a request before it is passed on. */
export type ChangeBody = (method: string, pathname: string, body: ArrayBuffer) => ArrayBuffer | string;

/** Listens on this machine, and passes all requests on to `upstream`. */
export function startControlProxy(upstream: Connection, recorder: Recorder, change: ChangeBody = (_, __, body) => body): ControlProxy {
  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0, idleTimeout: 0, maxRequestBodySize: Number.MAX_SAFE_INTEGER },
    fetch: (request) => serve({ upstream, recorder, change }, request),
    error: (error) => Response.json({ error: { code: "unavailable", message: error.message } }, { status: 502 }),
  });
  return { url: `http://127.0.0.1:${server.port}`, close: () => void server.stop(true) };
}

/** Matches a path of the control API that belongs to a world: captures the world's name and the rest of the path. */
const OF_WORLD = /^\/v1\/worlds\/([^/]+)(?:\/(.*))?$/;
/** Matches the control routes that delete the log of requests and the webhooks of a world. */
const REPLACES = /^(?:reset|snapshots\/[^/]+\/restore)$/;

interface Passing {
  readonly upstream: Connection;
  readonly recorder: Recorder;
  readonly change: ChangeBody;
}

async function serve({ upstream, recorder, change }: Passing, request: Request): Promise<Response> {
  const { method } = request;
  const { pathname, search } = new URL(request.url);
  if (method === "GET" || method === "HEAD") return pass(upstream, pathname + search, request, undefined);
  const body = await request.arrayBuffer();
  const [, encoded, path = ""] = OF_WORLD.exec(pathname) ?? [];
  const name = encoded === undefined ? "" : decodeURIComponent(encoded);
  const world = recorder.world(name);
  const isDeleted = method === "DELETE" && path === "";
  if (isDeleted) await recorder.end(name);
  else if (REPLACES.test(path)) await world?.collectAll();
  const response = await pass(upstream, pathname + search, request, change(method, pathname, body));
  const { status } = response;
  // The client gets the response to the creation of a world only after the record of the world has begun.
  if (pathname === "/v1/worlds" && status === 201) await begin(recorder, new TextDecoder().decode(body));
  if (!isDeleted && path !== "" && !path.endsWith("/expect")) world?.control({ method, path, status, detail: detailOf(path, body) });
  return response;
}

/**
 * Begins the record of a new world. A world file determines the first state of a world alone only if the file sets the
 * clock.
 */
function begin(recorder: Recorder, body: string): Promise<void> {
  const { name, file } = JSON.parse(body) as { readonly name: string; readonly file?: string | { readonly clock?: { readonly now?: number } } };
  const isTimed = typeof file === "object" && file.clock?.now !== undefined;
  return recorder.begin(name, isTimed ? body.replace(JSON.stringify(name), "") : undefined);
}

function pass(upstream: Connection, target: string, { method, headers, signal }: Request, body: ArrayBuffer | string | undefined): Promise<Response> {
  const passed = new Headers(headers);
  for (const name of ["host", "content-length", "transfer-encoding", "connection"]) passed.delete(name);
  // Bun's declarations do not know that `false` turns off the proxy of the environment.
  const direct = { proxy: false as unknown as string, decompress: false };
  return upstream.fetch(upstream.url + target, {
    method,
    headers: passed,
    signal,
    redirect: "manual",
    ...direct,
    ...(body === undefined ? {} : { body }),
  });
}

const parsed = (body: ArrayBuffer): unknown => JSON.parse(new TextDecoder().decode(body));

/** The keys of a request body that a trace shows, because their values are never secrets. */
const SHOWN: readonly string[] = [
  ...["now", "frozen", "seconds", "name", "operation", "webhook", "effect", "status", "rate_limit", "reset", "times", "skip", "latency_ms"],
  ...["page_max", "cut_body_at", "revoke_tokens", "advance_seconds", "account", "social_account", "field", "media", "live_video"],
];
const DETAILED = /^(?:clock|faults|in-app|snapshots)(?:\/|$)/;

function detailOf(path: string, body: ArrayBuffer): string {
  if (!DETAILED.test(path) || body.byteLength === 0) return "";
  try {
    const given = parsed(body) as Record<string, unknown>;
    return SHOWN.filter((key) => ["string", "number", "boolean"].includes(typeof given[key]))
      .map((key) => `${key}: ${given[key]}`)
      .join(", ");
  } catch {
    return "";
  }
}
