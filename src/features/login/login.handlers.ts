import { createHash, timingSafeEqual } from "node:crypto";
import type { Static } from "typebox";
import { hashOf } from "#auth/tokens";
import type { OperationRequest } from "#graph/contract/operation";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { GraphError, invalidParameter } from "#kernel/errors";
import type { Reader, Transaction } from "#storage/database";
import type { deletePermission, exchangeByQuery, extendAccessToken, readPermissions } from "./login.contract.ts";
import { removeApp, removePermission } from "./login.permissions.ts";
import { findCode, findCodeOf, listPermissions, listTokensOf, type Permission, useCode } from "./login.store.ts";
import { issueToken, LONG_SECONDS, SHORT_SECONDS } from "./login.tokens.ts";

type Issued = Static<typeof exchangeByQuery.returns>;
type Exchange = OperationRequest<Static<typeof exchangeByQuery.params>>;

/**
 * D-382: exchanges a code, the app's secret, or a token. An exchange opens a transaction of its own, because even an exchange that is refused may
 * revoke tokens, and this change must be committed.
 */
export function handleExchange(request: Exchange): Promise<Issued> {
  const { caller, params, graphRequest, world } = request;
  const grant = params.grant_type ?? "authorization_code";
  if (grant === "authorization_code") return exchangeCode(request);
  if (graphRequest.surface !== "base") throw invalidParameter("grant_type", "must be authorization_code");
  if (grant === "client_credentials") {
    // D-11: the app's id and secret, joined by `|`, are a token of the app.
    return Promise.resolve({ access_token: `${caller.app.id}|${world.sealer.open(caller.app.sealed_secret)}`, token_type: "bearer" });
  }
  return exchangeToken(request, grant);
}

const refusedCode = (problem: string): GraphError => invalidParameter("code", problem);

async function exchangeCode({ caller, params, world, graphRequest }: Exchange): Promise<Issued> {
  const { code, redirect_uri } = params;
  if (code === undefined) throw invalidParameter("code", "is required");
  if (redirect_uri === undefined) throw invalidParameter("redirect_uri", "is required; send the address to which the dialog sent the code");
  const hash = hashOf(code);
  const isAccountHost = graphRequest.surface === "social_login";
  const ended = await world.database.write(async (tx): Promise<Issued | GraphError> => {
    const now = unixSeconds(world.clock);
    const stored = await findCode(tx, hash);
    // If the code belongs to another app, or to the other host, the response is the same as if the code did not exist.
    if (stored === undefined || stored.app !== caller.app.id || stored.is_account !== isAccountHost) return refusedCode("is not a code of this app");
    if (stored.used_at !== 0 || !(await useCode(tx, hash, now))) {
      await revokeAll(tx, world, hash);
      return refusedCode("was exchanged before; its tokens are revoked now, because a second use means that somebody else has the code");
    }
    // The code is marked as used before the other parameters are checked, so that nobody can try several values with one code.
    if (stored.expires_at <= now) return refusedCode("has expired; open the dialog again");
    if (stored.redirect_uri !== redirect_uri)
      return invalidParameter("redirect_uri", "differs from the redirect_uri of the dialog; the code cannot be used again");
    const problem = verifierProblem(stored.challenge, params.code_verifier);
    if (problem !== undefined) return invalidParameter("code_verifier", `${problem}; the code cannot be used again`);
    const { value } = await issueToken(tx, world, stored, SHORT_SECONDS, hash);
    if (isAccountHost) return { access_token: value, user_id: stored.person, permissions: [...stored.scopes] };
    return { access_token: value, token_type: "bearer", expires_in: SHORT_SECONDS };
  });
  if (ended instanceof GraphError) throw ended;
  return ended;
}

/**
 * Returns the reason why the request's code verifier is wrong (RFC 7636, 4.6). A code verifier is also refused if the dialog was opened without a
 * code challenge, because somebody may have removed the challenge from the dialog's address.
 */
function verifierProblem(challenge: string, verifier: string | undefined): string | undefined {
  if (challenge === "") return verifier === undefined ? undefined : "was sent, but the dialog was opened without code_challenge";
  if (verifier === undefined) return "is required, because the dialog was opened with code_challenge";
  const made = Buffer.from(createHash("sha256").update(verifier).digest("base64url"));
  const expected = Buffer.from(challenge);
  return made.length === expected.length && timingSafeEqual(made, expected) ? undefined : "does not match the code_challenge of the dialog";
}

async function revokeAll(tx: Transaction, world: World, code: string): Promise<void> {
  const now = unixSeconds(world.clock);
  for (const token of await listTokensOf(tx, code)) await world.tokens.revokeById(tx, token, now);
}

/**
 * Exchanges a short-lived token of a user for a long-lived token. The parameter that has the short-lived token has the name that `grant_type` gives
 * to the exchange.
 */
async function exchangeToken({ caller, world, graphRequest }: Exchange, name: string): Promise<Issued> {
  const given = graphRequest.body[name] ?? graphRequest.query[name];
  if (typeof given !== "string" || given === "") throw invalidParameter(name, "is required; send the token that you exchange");
  const now = unixSeconds(world.clock);
  const token = world.tokens.alive(await world.tokens.find(given), name, now);
  if (token instanceof GraphError) throw token;
  if (token.app !== caller.app.id || token.type !== "user" || token.user === undefined)
    throw invalidParameter(name, "must be a token of a user of this app");
  return lengthen(world, { app: token.app, person: token.user, is_account: false, scopes: token.scopes }, token.id);
}

/** Makes a long-lived token for the holder of the token `from`, which is still valid. */
async function lengthen(world: World, principal: Parameters<typeof issueToken>[2], from: Parameters<typeof findCodeOf>[1]): Promise<Issued> {
  const { value } = await world.database.write(async (tx) => issueToken(tx, world, principal, LONG_SECONDS, await findCodeOf(tx, from)));
  return { access_token: value, token_type: "bearer", expires_in: LONG_SECONDS };
}

/** D-383: exchanges a token of a social account for a long-lived token, at the host of the alternate flow. */
export async function handleExtend({ caller, params, world }: OperationRequest<Static<typeof extendAccessToken.params>>): Promise<Issued> {
  if (hashOf(params.client_secret) !== caller.app.secret_hash) throw invalidParameter("client_secret", "is not the secret of the token's app");
  return refreshed(caller, world);
}

export const handleRefresh = ({ caller, world }: OperationRequest): Promise<Issued> => refreshed(caller, world);

function refreshed({ token, app }: OperationRequest["caller"], world: World): Promise<Issued> {
  if (token.social_account === undefined) throw invalidParameter("access_token", "is not a token of a social account");
  return lengthen(world, { app: app.id, person: token.social_account, is_account: true, scopes: token.scopes }, token.id);
}

/**
 * D-384: lists the person's stored decisions, and then those permissions of the token about which no decision is stored, such as the permissions of a
 * token from a world file.
 */
export async function handleReadPermissions(
  { caller, node }: OperationRequest<Static<typeof readPermissions.params>>,
  reader: Reader,
): Promise<{ data: Permission[] }> {
  const stored = await listPermissions(reader, caller.app.id, node.id);
  const known = new Set(stored.map(({ permission }) => permission));
  const further = caller.token.scopes.filter((scope) => !known.has(scope)).map((permission): Permission => ({ permission, status: "granted" }));
  return { data: [...stored, ...further] };
}

export async function handleDeletePermission(
  { caller, node, params, world }: OperationRequest<Static<typeof deletePermission.params>>,
  tx: Transaction,
): Promise<{ success: boolean }> {
  const { permission } = params;
  if (permission === undefined) await removeApp(tx, world, caller.app, node.id);
  else await removePermission(tx, caller.app.id, node.id, permission);
  return { success: true };
}
