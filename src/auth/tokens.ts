/** The tokens of a world. The class `Tokens` finds a world's tokens by their hash through a cache, and revokes tokens (D-11). */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { BoundedMap } from "#kernel/bounded-map";
import { GraphError, invalidParameter, tokenExpired, tokenInvalid, tokenRevoked } from "#kernel/errors";
import { isNodeId, type NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import { detached } from "#kernel/text";
import type { Awaitable } from "#kernel/turns";
import type { Database, Reader, Transaction } from "#storage/database";
import { FactCache } from "#storage/facts";
import type { Sealer } from "#storage/sealing";
import type { AppFacts } from "./app-facts.ts";
import { revocationTime, type Token } from "./token.ts";
import {
  deleteTokenByHash,
  deleteTokensNaming,
  findTokenByHash,
  markRevokedByHash,
  markTokenRevoked,
  revokePageTokens,
  revokePageTokensOf,
} from "./tokens.store.ts";

export const tokenFact = "token";
export const appFact = "app";

/** The greatest number of characters of a token. All tokens that Plaza makes are shorter, but a header of a request can be longer. */
export const TOKEN_CHARACTERS_MAX = 1_000;

export const hashOf = (secret: string): string => hash("sha256", secret);

/** The greatest number of cached hashes. The limit is as large as that of the cache of tokens in `facts.ts`; a hash takes some 200 bytes. */
const HASHES_MAX = 10_000;

export class Tokens {
  readonly #database: Database;
  readonly #ports: PortRegistry;
  readonly #sealer: Sealer;
  readonly #tokens: FactCache<Token>;
  readonly #apps: FactCache<AppFacts>;
  /**
   * The hashes of tokens that were found, by the tokens' values. The cache of hashes saves time, because hashing a token's value costs as much as all
   * other checks of a cached token.
   */
  readonly #hashes = new BoundedMap<string, string>(HASHES_MAX);

  constructor(database: Database, ports: PortRegistry, sealer: Sealer) {
    this.#database = database;
    this.#ports = ports;
    this.#sealer = sealer;
    this.#tokens = new FactCache(database, tokenFact);
    this.#apps = new FactCache(database, appFact);
  }

  findApp(id: NodeId): Awaitable<AppFacts | undefined> {
    return this.#apps.get(id, this.#loadApp);
  }

  readonly #findApp = (id: NodeId) => this.findApp(id);

  readonly #loadApp = (id: NodeId) => this.#ports.get("app").findFacts(this.#database.reader, id);

  /** Finds the token with this value, whether or not the token is valid. The result is undefined if no token has the value. */
  find(value: string): Awaitable<Token | undefined> {
    if (value.length > TOKEN_CHARACTERS_MAX) return undefined;
    const bar = value.indexOf("|");
    if (bar !== -1) return this.#findByAppSecret(value.slice(0, bar), value.slice(bar + 1), this.#findApp);
    const hash = this.#hashes.get(value);
    return hash === undefined ? this.#findNew(value) : this.#tokens.get(hash, this.#load);
  }

  async #findNew(value: string): Promise<Token | undefined> {
    const hash = hashOf(value);
    const token = await this.#tokens.get(hash, this.#load);
    if (token !== undefined) this.#hashes.set(detached(value), hash);
    return token;
  }

  readonly #load = (hash: string) => findTokenByHash(this.#database.reader, hash);

  /**
   * The app of a valid token that is in the cache. D-97: a server at its limit of requests uses the token's app to decide about a request before it
   * reads from the database. The method `find` would look for each unknown token in the database, so a flood of unknown tokens would cost many reads.
   */
  peekAppOf(value: string, nowSeconds: number): NodeId | undefined {
    const bar = value.indexOf("|");
    if (bar !== -1) {
      const app = this.#apps.peek(value.slice(0, bar));
      return app !== undefined && isSameHex(hashOf(value.slice(bar + 1)), app.secret_hash) ? app.id : undefined;
    }
    const hash = this.#hashes.get(value);
    const token = this.alive(hash === undefined ? undefined : this.#tokens.peek(hash), "", nowSeconds);
    return token instanceof GraphError ? undefined : this.#apps.peek(token.app)?.id;
  }

  async revoke(tx: Transaction, hash: string, nowSeconds: number): Promise<void> {
    await markRevokedByHash(tx, hash, revocationTime(nowSeconds));
    tx.invalidate(tokenFact, hash);
  }

  /** Revokes the token with this id, and its copies. Resolves with false if there is no such token. */
  async revokeById(tx: Transaction, id: NodeId, nowSeconds: number): Promise<boolean> {
    const hashes = await markTokenRevoked(tx, id, revocationTime(nowSeconds));
    for (const hash of hashes) tx.invalidate(tokenFact, hash);
    return hashes.length > 0;
  }

  /** Deletes the token, so that another token can have the same value. */
  async forget(tx: Transaction, hash: string): Promise<void> {
    await deleteTokenByHash(tx, hash);
    tx.invalidate(tokenFact, hash);
  }

  /** D-11: revokes the page tokens of a person whose role on the page ends. */
  async endPageTokens(tx: Transaction, page: NodeId, user: NodeId, nowSeconds: number): Promise<void> {
    for (const hash of await revokePageTokens(tx, page, user, revocationTime(nowSeconds))) tx.invalidate(tokenFact, hash);
  }

  /**
   * Deletes the tokens of a removed node. D-11: page tokens that were issued to a removed person are only revoked, as when the person's role ends.
   */
  async forgetNode(tx: Transaction, id: NodeId, nowSeconds: number): Promise<void> {
    const revoked = await revokePageTokensOf(tx, id, revocationTime(nowSeconds));
    for (const hash of [...revoked, ...(await deleteTokensNaming(tx, id))]) tx.invalidate(tokenFact, hash);
  }

  /** Returns the token if it is valid, and otherwise an error. The message of the error names the parameter or header `place`. */
  alive(token: Token | undefined, place: string, nowSeconds: number): Token | GraphError {
    if (token === undefined) return tokenInvalid(place, "this token is not known");
    if (token.revoked_at !== 0) return tokenRevoked(place);
    if (token.expires_at !== 0 && token.expires_at <= nowSeconds) return tokenExpired(place);
    return token;
  }

  /** Finds the token in the database and not in the cache, for use in a transaction. */
  async findStored(reader: Reader, value: string): Promise<Token | undefined> {
    if (value.length > TOKEN_CHARACTERS_MAX) return undefined;
    const bar = value.indexOf("|");
    if (bar === -1) return findTokenByHash(reader, hashOf(value));
    return this.#findByAppSecret(value.slice(0, bar), value.slice(bar + 1), (id) => this.#ports.get("app").findFacts(reader, id));
  }

  /** D-11: a text of the form `{app_id}|{app_secret}` is an app token too. */
  async #findByAppSecret(id: string, secret: string, findApp: (id: NodeId) => Awaitable<AppFacts | undefined>): Promise<Token | undefined> {
    const app = isNodeId(id) ? await findApp(id) : undefined;
    if (app === undefined || !isSameHex(hashOf(secret), app.secret_hash)) return undefined;
    return tokenOfApp(app);
  }

  /**
   * D-15: checks the proof of a token. Throws `invalidParameter` (code 100) if the proof is wrong, or if the app requires a proof and the request has
   * none. The proof of another app's token is not checked, because the operation's policy refuses that token.
   */
  checkProof(proof: unknown, value: string, token: Token, app: AppFacts): void {
    if (token.type === "app" || token.app !== app.id) return;
    if (proof === undefined) {
      if (app.require_appsecret_proof) throw invalidParameter("appsecret_proof", "is required by the app");
      return;
    }
    const expected = createHmac("sha256", this.#sealer.open(app.sealed_secret)).update(value).digest("hex");
    if (typeof proof !== "string" || !isSameHex(proof.toLowerCase(), expected))
      throw invalidParameter("appsecret_proof", "is not the proof of this token");
  }
}

/**
 * Makes an app token that is not stored. Such an app token stands for a caller who sends the app's secret, and for a request that needs no token
 * (D-11, D-13).
 */
export function tokenOfApp(app: AppFacts): Token {
  const none = { user: undefined, page: undefined, social_account: undefined, microblog_user: undefined };
  const never = { expires_at: 0, data_access_expires_at: 0, revoked_at: 0 };
  return { id: app.id, type: "app", app: app.id, ...none, scopes: [], issued_at: app.created_time, ...never };
}

/**
 * Compares two digests in constant time if their lengths are equal. Digests of different lengths may be compared faster, because the length of a
 * digest is not a secret.
 */
function isSameHex(one: string, other: string): boolean {
  const a = Buffer.from(one);
  const b = Buffer.from(other);
  return a.length === b.length && timingSafeEqual(a, b);
}
