/** Makes the tokens of a login (D-382). */
import { createHmac } from "node:crypto";
import type { Token } from "#auth/token";
import { hashOf } from "#auth/tokens";
import { insertToken } from "#auth/tokens.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { deriveKey } from "#storage/sealing";
import { recordToken } from "./login.store.ts";

/** The time for which a token that was exchanged for a code is valid: between one and two hours, as platforms of this kind document. */
export const SHORT_SECONDS = 5_400;
/** The time for which a long-lived token is valid: 60 days. */
export const LONG_SECONDS = 60 * 24 * 3_600;

const VALUE_BYTES = 32;

export interface Issued {
  readonly value: string;
  readonly token: Token;
}

/** The user or social account for which a token is made, with the token's app and scopes. */
export interface Principal {
  readonly app: NodeId;
  readonly person: NodeId;
  readonly is_account: boolean;
  readonly scopes: readonly string[];
}

/**
 * Stores a new token of a person, with a random value. The parameter `code` is the hash of the code that was exchanged for the token; undefined if
 * the token was made without a code.
 */
export async function issueToken(tx: Transaction, world: World, principal: Principal, seconds: number, code: string | undefined): Promise<Issued> {
  const now = unixSeconds(world.clock);
  const value = `PLZ${world.randomSecret(VALUE_BYTES)}`;
  const token: Token = {
    ...{ id: world.ids.mint(), app: principal.app, scopes: principal.scopes, issued_at: now, expires_at: now + seconds },
    ...{ data_access_expires_at: 0, revoked_at: 0, page: undefined, microblog_user: undefined },
    ...(principal.is_account
      ? { type: "social_user", user: undefined, social_account: principal.person }
      : { type: "user", user: principal.person, social_account: undefined }),
  };
  if (!(await insertToken(tx, token, hashOf(value)))) throw new Error("two random tokens are equal");
  if (code !== undefined) await recordToken(tx, token.id, code);
  return { value, token };
}

/**
 * D-386: returns a function that derives the values of a page token from a user's token, whose hash is given. The values of page tokens are derived,
 * so that a second list of the same pages has the same tokens although Plaza stores only the hashes of tokens. Only somebody who knows both the key
 * and the user's token can derive the value of a page token. The first derived value comes from the current key. The other values come from previous
 * keys, because Plaza may have returned such a value before the key was replaced.
 */
export function pageTokenValues({ name, keys }: World, userTokenHash: string): (page: string) => readonly string[] {
  const derived = [keys.current, ...keys.previous.map(({ key }) => key)].map((key) => deriveKey(key, "page tokens"));
  return (page) => derived.map((key) => `PLZ${createHmac("sha256", key).update(`${name} ${userTokenHash} ${page}`).digest("base64url")}`);
}
