/** Tokens (D-11). Plaza does not store the value of a token, but only the value's SHA-256. */
import type { NodeId } from "#kernel/ids";

export const tokenKinds = ["app", "user", "page", "social_user", "microblog_user", "system_user"] as const;
export type TokenKind = (typeof tokenKinds)[number];

export interface Token {
  readonly id: NodeId;
  readonly type: TokenKind;
  readonly app: NodeId;
  /** The person to whom a user token, system user token or page token was issued. */
  readonly user: NodeId | undefined;
  readonly page: NodeId | undefined;
  readonly social_account: NodeId | undefined;
  readonly microblog_user: NodeId | undefined;
  readonly scopes: readonly string[];
  /**
   * The times `issued_at`, `expires_at` and `data_access_expires_at` are in Unix seconds. As in the response of `debug_token`, an `expires_at` of 0
   * means that the token never expires.
   */
  readonly issued_at: number;
  readonly expires_at: number;
  readonly data_access_expires_at: number;
  /** The time at which the token was revoked, in Unix seconds. 0 means that the token is not revoked. */
  readonly revoked_at: number;
}

/** The `revoked_at` of a token that is revoked now. The time is at least 1, because 0 means that a token is not revoked. */
export const revocationTime = (nowSeconds: number): number => Math.max(1, nowSeconds);

/** D-11: whether the app's access to the data of the token's person has expired. */
export const isDataAccessOver = ({ data_access_expires_at }: Token, nowSeconds: number): boolean =>
  data_access_expires_at !== 0 && data_access_expires_at <= nowSeconds;

/** The types of the nodes that `me` in an address can mean. */
export const principalTypes: ReadonlySet<string> = new Set(["app", "user", "page", "social_account", "microblog_user"]);

/** The node that `me` means in a request with this token (D-02). */
export function principalOf(token: Token): NodeId {
  switch (token.type) {
    case "page":
      return token.page ?? token.app;
    case "user":
    case "system_user":
      return token.user ?? token.app;
    case "social_user":
      return token.social_account ?? token.app;
    case "microblog_user":
      return token.microblog_user ?? token.app;
    case "app":
      return token.app;
  }
}

/**
 * A row of the directory of nodes. The columns of the directory are enough to find a node's operations, to check rights, and to find the node's own
 * row.
 */
export interface NodeRef {
  readonly id: NodeId;
  readonly type: string;
  /**
   * The page, app or account to which the node belongs. A page, app or account is its own owner. In the primary key of the node's table, the owner is
   * the first column.
   */
  readonly owner: NodeId;
}
