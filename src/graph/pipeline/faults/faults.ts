/** Applies injected faults (D-150) to a request, after its tokens and endpoint are known, and before the request has any effect. */
import type { NodeRef } from "#auth/token";
import { unixSeconds } from "#kernel/clock";
import { type AppliedFault, changesResponse, errorOf, type RequestFaultInput } from "../../worlds/fault-injection.ts";
import type { Parsed } from "../parse.ts";
import { type GraphRequest, type GraphResponse, JsonNumber } from "../request.ts";
import type { Authenticated, Incoming } from "../stages.ts";

/** The caller of a request, and the addressed node. A batch does not address a node, so its node is undefined. */
type FaultyCaller = Pick<Authenticated, "credentials" | "app"> & { readonly node?: NodeRef | undefined };

/** Resolves with the fault that matches the request, after the fault's latency. Resolves with undefined if no fault matches the request. */
export const matchFault = (
  { world, request }: Incoming,
  operation: string,
  { node, credentials }: FaultyCaller,
): Promise<AppliedFault<RequestFaultInput> | undefined> =>
  world.faults.match({
    operation,
    node: node?.id,
    tokens: credentials.map(({ token }) => token.id),
    parameter: (name) => textOf(own(request.query, name) ?? own(request.body, name)),
    isPart: request.batchDepth > 0,
  });

/** Throws the error that the fault puts in place of the operation, if the fault has such an error. */
export function throwErrorOf(fault: RequestFaultInput, { node, app }: FaultyCaller): void {
  const error = errorOf(fault, node?.owner ?? app?.id ?? "0");
  if (error !== undefined) throw error;
}

/** D-370: changes the world as the fault says: revokes the tokens of the request, or moves the time past an expiry. */
export async function changeWorld(
  { world }: Incoming,
  { credentials }: FaultyCaller,
  { revoke_tokens, advance_seconds }: RequestFaultInput,
): Promise<void> {
  const { clock, tokens } = world;
  if (revoke_tokens === true) {
    await world.database.write(async (tx) => {
      for (const { token } of credentials) await tokens.revokeById(tx, token.id, unixSeconds(clock));
    });
  }
  if (advance_seconds !== undefined) await world.moveClock(clock.nowMs() + advance_seconds * 1_000);
}

/** Returns the request with its page limited to the number of items that the fault allows. */
export function shortened(parsed: Parsed, { page_max }: Partial<RequestFaultInput> = {}): Parsed {
  if (page_max === undefined || parsed.kind !== "list") return parsed;
  const { request } = parsed;
  return { ...parsed, request: { ...request, page: { ...request.page, limit: Math.min(request.page.limit, page_max) } } };
}

const own = (parameters: GraphRequest["query"], name: string): unknown => (Object.hasOwn(parameters, name) ? parameters[name] : undefined);

function textOf(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  return value instanceof JsonNumber ? value.text : JSON.stringify(value);
}

/** Returns the response as the fault changes it. This function replaces the response's body; the `http` layer damages the connection. */
export function damaged(response: GraphResponse, fault: RequestFaultInput | undefined): GraphResponse {
  if (fault === undefined || !changesResponse(fault)) return response;
  const { content_type, reset, cut_body_at, body_bytes_per_second } = fault;
  const headers = { ...response.headers };
  // The ETag belongs to the original body, which the fault has replaced.
  if (fault.body !== undefined) delete headers.etag;
  if (content_type !== undefined) headers["content-type"] = content_type;
  const body = fault.body ?? response.body;
  const isOnConnection = reset === true || cut_body_at !== undefined || body_bytes_per_second !== undefined;
  return { ...response, headers, body, damage: isOnConnection ? { reset, cut_body_at, body_bytes_per_second } : undefined };
}
