/** A token as it is written in a world file or in a request to the control API (docs/operating/worlds.md; D-11). */
import { type Static, Type } from "typebox";
import { type Token, type TokenKind, tokenKinds } from "#auth/token";
import { hashOf, TOKEN_CHARACTERS_MAX } from "#auth/tokens";
import type { NodeId } from "#kernel/ids";
import { suggestion } from "#kernel/suggestion";
import type { Reference } from "../contract/feature.ts";
import { described, WorldProblem, worldId, worldTime, worldTimeOr } from "./file/schema-words.ts";

export const tokenEntry = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TOKEN_CHARACTERS_MAX,
        pattern: "^[\\x21-\\x7b\\x7d\\x7e]+$",
        description: "the token's value, in ASCII without spaces and |",
      }),
    ),
    token_sha256: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{64}$", description: "the SHA-256 of the token's value in hex, instead of the value, as in an export" }),
    ),
    type: Type.Unsafe<TokenKind>(
      Type.Union(
        tokenKinds.map((kind) => Type.Literal(kind)),
        { description: "the token's type" },
      ),
    ),
    app: described("the app", worldId),
    user: Type.Optional(described("the person to whom a user, system user or page token belongs", worldId)),
    page: Type.Optional(described("the page to which a page token belongs", worldId)),
    social_account: Type.Optional(described("the account to which a social user token belongs", worldId)),
    microblog_user: Type.Optional(described("the person to whom a microblog user token belongs", worldId)),
    scopes: Type.Array(Type.String({ minLength: 1 }), { default: [], description: "the token's scopes" }),
    issued_at: Type.Optional(described("Unix seconds or ISO 8601 (default: now)", worldTime)),
    expires_at: Type.Optional(described("Unix seconds or ISO 8601; 0 if the token never expires", worldTimeOr(0))),
    data_access_expires_at: Type.Optional(
      described("the time from which the token can no longer read data, in the form of `expires_at`", worldTimeOr(0)),
    ),
    revoked_at: Type.Optional(described("the time from which the token is revoked; 0 if the token is not revoked", worldTimeOr(0))),
  },
  { additionalProperties: false, description: "an access token" },
);
export type TokenEntry = Static<typeof tokenEntry>;

const principals = ["user", "page", "social_account", "microblog_user"] as const;
type Principal = (typeof principals)[number];

/**
 * The nodes that each type of token must name (`needs`), and the nodes that it may name (`takes`). For example, a page token may also name the person
 * to whom it was issued.
 */
const named: Readonly<Record<TokenKind, { needs: readonly Principal[]; takes: readonly Principal[] }>> = {
  app: { needs: [], takes: [] },
  user: { needs: ["user"], takes: [] },
  system_user: { needs: ["user"], takes: [] },
  page: { needs: ["page"], takes: ["user"] },
  social_user: { needs: ["social_account"], takes: [] },
  microblog_user: { needs: ["microblog_user"], takes: [] },
};

/**
 * Makes a token from an entry of a world file. Throws `WorldProblem` if the entry does not name a node that this type of token needs, or names a node
 * that this type cannot have.
 */
export function tokenOf(entry: TokenEntry, id: NodeId, nowSeconds: number): Token {
  const { needs, takes } = named[entry.type];
  for (const principal of principals) {
    if (entry[principal] === undefined && needs.includes(principal)) {
      throw new WorldProblem(principal, `is required for a token of type ${entry.type}`);
    }
    if (entry[principal] !== undefined && !needs.includes(principal) && !takes.includes(principal)) {
      throw new WorldProblem(principal, `must be left out for a token of type ${entry.type}`);
    }
  }
  return {
    id,
    type: entry.type,
    app: entry.app,
    user: entry.user,
    page: entry.page,
    social_account: entry.social_account,
    microblog_user: entry.microblog_user,
    scopes: entry.scopes ?? [],
    issued_at: entry.issued_at ?? nowSeconds,
    expires_at: entry.expires_at ?? 0,
    data_access_expires_at: entry.data_access_expires_at ?? 0,
    revoked_at: entry.revoked_at ?? 0,
  };
}

/** The hash of the token's value in the entry, in the form in which the database has it. Undefined if the entry does not have a token's value. */
export const tokenHashOf = ({ token, token_sha256 }: TokenEntry): string | undefined => (token === undefined ? token_sha256 : hashOf(token));

export const tokenReferences = (entry: TokenEntry): Reference[] => [
  { path: "app", types: ["app"], id: entry.app },
  ...principals.flatMap((principal) => {
    const id = entry[principal];
    return id === undefined ? [] : [{ path: principal, types: [principal], id }];
  }),
];

/** The greatest number of warnings in a response. A person does not read more warnings than this. */
const WARNINGS_MAX = 20;

/**
 * Warns about a token's scopes that no operation needs. Unknown scopes of a token are not errors, because they may belong to an area that Plaza does
 * not serve.
 */
export function scopeWarnings(entries: readonly Pick<TokenEntry, "scopes">[], known: ReadonlySet<string>): string[] {
  const unknown = new Set<string>();
  for (const { scopes = [] } of entries) for (const scope of scopes) if (!known.has(scope) && unknown.size < WARNINGS_MAX) unknown.add(scope);
  return [...unknown].map((scope) => `no operation needs the scope ${scope}${suggestion(scope, [...known])}`);
}

/** The token in the form in which an export of the world writes it. */
export function tokenToEntry(token: Token, hash: string): Record<string, unknown> {
  const { type, app, scopes, issued_at, expires_at, data_access_expires_at, revoked_at } = token;
  const given = principals.flatMap((principal) => (token[principal] === undefined ? [] : [[principal, token[principal]] as const]));
  return {
    token_sha256: hash,
    type,
    app,
    ...Object.fromEntries(given),
    scopes,
    issued_at,
    expires_at,
    data_access_expires_at,
    ...(revoked_at === 0 ? {} : { revoked_at }),
  };
}
