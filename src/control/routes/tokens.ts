/** The routes that create tokens (and show their values once), list tokens, and revoke tokens (D-11). */
import { type Static, Type } from "typebox";
import type { Token } from "#auth/token";
import { hashOf, tokenFact } from "#auth/tokens";
import { deleteExpiredCopies, findTokenById, insertToken, listTokens } from "#auth/tokens.store";
import { conflict, notFound, unprocessable } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList, warnings, warningsOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { checkReferences } from "#graph/worlds/file/import-export";
import { WorldProblem } from "#graph/worlds/file/schema-words";
import { scopeWarnings, type TokenEntry, tokenEntry, tokenHashOf, tokenOf, tokenReferences } from "#graph/worlds/tokens";
import { unixSeconds } from "#kernel/clock";
import { GraphError } from "#kernel/errors";
import { isNodeId, type NodeId } from "#kernel/ids";

const text = Type.Optional(Type.String());
const moment = (meaning: string) => Type.Integer({ description: `Unix seconds; 0: ${meaning}` });

const tokenInList = Type.Object({
  id: Type.String(),
  type: Type.String(),
  app: Type.String(),
  user: text,
  page: text,
  social_account: text,
  microblog_user: text,
  scopes: Type.Array(Type.String()),
  issued_at: moment("unknown"),
  expires_at: moment("never"),
  data_access_expires_at: moment("never"),
  revoked_at: moment("not revoked"),
});
const mintedToken = Type.Object({
  ...tokenInList.properties,
  token: Type.Optional(Type.String({ description: "the value of the token; it is shown only here and cannot be read again" })),
  warnings,
});

const listedToken = Type.Object({
  ...tokenInList.properties,
  token: Type.Optional(Type.String({ description: "the token's value; only for the tokens of a sandbox's demo world, whose values are public" })),
});

const shown = (token: Token): Record<string, unknown> => ({ ...token, scopes: [...token.scopes] });

async function mintToken({ deps, world, body: entry }: ControlRequest<unknown, TokenEntry>): Promise<unknown> {
  const id = world.ids.mint();
  const token = tokenOf(entry, id, unixSeconds(world.clock));
  const value = entry.token ?? (entry.token_sha256 === undefined ? deps.mintTokenValue(world.seed, id) : undefined);
  const hash = value === undefined ? (tokenHashOf(entry) as string) : hashOf(value);
  await world.database.write(async (tx) => {
    try {
      await checkReferences(tx, tokenReferences(entry), "");
    } catch (error) {
      throw error instanceof WorldProblem ? unprocessable(error.message, error.path) : error;
    }
    if (!(await insertToken(tx, token, hash))) throw conflict("another token has this value already", "token");
  });
  const beside = warningsOf(scopeWarnings([entry], deps.registry.scopes));
  return { ...shown(token), ...(value === undefined ? {} : { token: value }), ...beside };
}

/** D-407: finds the values of the demo world's tokens by their ids, if the key may see secrets. */
async function knownValues({ deps, key, world }: ControlRequest): Promise<ReadonlyMap<string, string>> {
  const values = key.access === "full" ? ((await deps.demoTokenValues?.()) ?? []) : [];
  const found = await Promise.all(values.map(async (value) => [(await world.tokens.find(value))?.id, value] as const));
  return new Map(found.flatMap(([id, value]) => (id === undefined ? [] : [[id, value] as const])));
}

async function listAllTokens(request: ControlRequest<Static<typeof pageQuery>>): Promise<unknown> {
  const known = await knownValues(request);
  return respondWithList(
    request,
    "tokens",
    (page, world) => listTokens(world.database.reader, page),
    (token) => ({ ...shown(token), ...(known.has(token.id) ? { token: known.get(token.id) } : {}) }),
  );
}

async function revokeToken({ world, path }: ControlRequest): Promise<void> {
  const id = path.id as string;
  const isKnown = isNodeId(id) && (await world.database.write((tx) => world.tokens.revokeById(tx, id, unixSeconds(world.clock))));
  if (!isKnown) throw notFound(`token ${id}`);
}

/** The lifetime of a copied token, long enough to try a few requests by hand. */
const COPY_SECONDS = 600;

/** D-270: makes a short-lived copy of a token. */
async function copyToken({ deps, world, path }: ControlRequest): Promise<unknown> {
  const id = path.id as string;
  const now = unixSeconds(world.clock);
  const copyId = world.ids.mint();
  const value = deps.mintTokenValue(world.seed, copyId);
  const copy = await world.database.write(async (tx) => {
    const token = isNodeId(id) ? await findTokenById(tx, id) : undefined;
    if (token === undefined) throw notFound(`token ${id}`);
    const problem = world.tokens.alive(token, "", now);
    if (problem instanceof GraphError) throw conflict("the token was revoked or has expired, so it cannot be copied: create a new token");
    for (const hash of await deleteExpiredCopies(tx, token.id, now)) tx.invalidate(tokenFact, hash);
    const ends = now + COPY_SECONDS;
    const made: Token = { ...token, id: copyId, issued_at: now, expires_at: token.expires_at === 0 ? ends : Math.min(ends, token.expires_at) };
    if (!(await insertToken(tx, made, hashOf(value), token.id))) throw conflict("another token has this value already");
    return made;
  });
  deps.onTokenCopied?.(id as NodeId, copyId);
  return { ...shown(copy), token: value };
}

const TOKENS = "/v1/worlds/{w}/tokens";

export const tokenRoutes: readonly ControlRoute[] = [
  route(`POST ${TOKENS}`, "mintToken", {
    summary: "Creates a token with a random value or the given one. Only this response shows the value",
    body: tokenEntry,
    status: 201,
    response: mintedToken,
    errors: [409, 422],
    handle: mintToken,
  }),
  route(`GET ${TOKENS}`, "listTokens", {
    summary: "Lists the tokens without their values, the newest first; in a sandbox with the values of the demo world's tokens",
    query: pageQuery,
    response: listOf(listedToken),
    handle: listAllTokens,
  }),
  route(`POST ${TOKENS}/{id}/copy`, "copyToken", {
    summary:
      "Creates a copy of a token for the same principal. The copy is valid for at most ten minutes, and ends with its original. Only this response shows the value",
    status: 201,
    response: mintedToken,
    errors: [409],
    handle: copyToken,
  }),
  route(`DELETE ${TOKENS}/{id}`, "revokeToken", {
    summary: "Revokes a token. This process refuses the token at once, and other processes within a second",
    handle: revokeToken,
  }),
];
