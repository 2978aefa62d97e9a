/** Tokens (D-11), without their values: only the SHA-256 of a value is stored. */
import type { NodeId } from "#kernel/ids";

export const tokenKinds = ["app", "user", "page", "social_user", "microblog_user", "system_user"] as const;
export type TokenKind = (typeof tokenKinds)[number];

export interface Token {
  readonly id: NodeId;
  readonly type: TokenKind;
  readonly app: NodeId;
  /** The person of a user, system user or page token. */
  readonly user: NodeId | undefined;
  readonly page: NodeId | undefined;
  readonly social_account: NodeId | undefined;
  readonly microblog_user: NodeId | undefined;
  readonly scopes: readonly string[];
  /** Times are in Unix seconds. 0: never, as in `debug_token`. */
  readonly issued_at: number;
  readonly expires_at: number;
  readonly data_access_expires_at: number;
  /** Unix seconds. 0: it is not revoked. */
  readonly revoked_at: number;
}

/** The `revoked_at` of a token that is revoked now. 0 would mean that it is alive, so it is at least 1. */
export const revocationTime = (nowSeconds: number): number => Math.max(1, nowSeconds);

/** D-11: the app may no longer read data of the person whom the token stands for. */
export const isDataAccessOver = ({ data_access_expires_at }: Token, nowSeconds: number): boolean =>
  data_access_expires_at !== 0 && data_access_expires_at <= nowSeconds;

/** The node types that `me` can mean. */
export const principalTypes: ReadonlySet<string> = new Set(["app", "user", "page", "social_account", "microblog_user"]);

/** The node that `me` means (D-02). */
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

/** A node as the directory stores it: enough to find its endpoint, to authorize, and to find its row. */
export interface NodeRef {
  readonly id: NodeId;
  readonly type: string;
  /** The page, app or account of the node, which is the first column of its table's key. For a page, app or account it is its own id. */
  readonly owner: NodeId;
}
