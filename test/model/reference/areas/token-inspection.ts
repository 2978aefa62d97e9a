/** Inspection of tokens (F3, D-55). */

import { findToken, problemOf } from "../credentials.ts";
import type { Token } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { Hole, type Reply, success } from "../replies.ts";
import { asText, parameter } from "../requests.ts";
import type { World } from "../world.ts";

const isTester = (world: World, { type, app, microblog_user }: Token): boolean =>
  type !== "microblog_user" ||
  (world.apps.get(app)?.roles ?? []).some((one) => one.microblog_user === microblog_user && one.role === "microblog_tester");

function shown(world: World, token: Token): Hole {
  const { app, issued_at, expires_at, data_access_expires_at, scopes, type, user } = token;
  const expected: Record<string, unknown> = {
    ...{ application: world.apps.get(app)?.name, is_valid: true, issued_at, expires_at, data_access_expires_at, scopes },
    // The interface document has types for tokens of apps and of users, and leaves the types of other tokens open.
    ...(type === "app" ? { type: "APP" } : type === "user" ? { type: "USER", user_id: user } : {}),
  };
  return new Hole("what the token is", (actual) => {
    const data = (actual ?? {}) as Record<string, unknown>;
    const wrong = Object.entries(expected).find(([name, value]) => JSON.stringify(data[name]) !== JSON.stringify(value));
    return wrong === undefined ? undefined : `${wrong[0]} is ${JSON.stringify(data[wrong[0]])}, not ${JSON.stringify(wrong[1])}`;
  });
}

/**
 * D-55 [clients]: whether the token may inspect another. A person may inspect their own tokens, and an administrator of the app may inspect all
 * tokens of the app.
 */
function mayInspect(world: World, { type, app, user }: Token, token: Token | undefined): boolean {
  if (type !== "user" && type !== "system_user") return true;
  return token?.user === user || (world.apps.get(app)?.roles ?? []).some((one) => one.user === user && one.role === "administrator");
}

function inspectToken({ world, request, tokens, fail }: Turn): Reply {
  const value = asText(parameter(request, "input_token"));
  if (value === undefined || value === "") return fail("invalidParameter", { parameter: "input_token" });
  const token = findToken(world, value);
  if (!mayInspect(world, tokens[0], token)) return fail("taskMissing");
  const problem = problemOf(world, token);
  if (token !== undefined && token.app !== tokens[0].app) {
    world.reach("inspectOtherApp");
    return fail("invalidParameter");
  }
  if (token !== undefined && problem === undefined) return success({ data: shown(world, token) });
  world.reach("inspectInvalid");
  const isInvalid = (actual: unknown) => ((actual ?? {}) as { is_valid?: unknown }).is_valid === false;
  return success({ data: new Hole("a token that is not valid", (actual) => (isInvalid(actual) ? undefined : "it is called valid")) });
}

export const inspectionOperations: readonly Operation[] = [
  {
    ...{ name: "inspectToken", method: "GET", edge: "debug_token", on: "nothing", surfaces: ["microblog"], form: "wrapped", scheme: "query" },
    ...{ kinds: ["microblog_user"], kindsOfClients: ["app", "user", "system_user"], scopes: [], isOfNoPerson: true },
    hasTask: isTester,
    reply: inspectToken,
  },
];
