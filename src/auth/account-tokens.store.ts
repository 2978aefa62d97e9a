import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { type Row, sql } from "#storage/sql";

/** A live token of an account or of its page: what the onboarding of self messaging asks of it. */
export interface AccountToken {
  readonly type: "social_user" | "page";
  /** For whom a page token was issued. */
  readonly user: NodeId | undefined;
  readonly scopes: readonly string[];
}

interface AccountTokenRow extends Row {
  user_id: string | null;
  scopes: string;
}

const tokenOf =
  (type: AccountToken["type"]) =>
  ({ user_id, scopes }: AccountTokenRow): AccountToken => ({
    type,
    user: user_id === null ? undefined : nodeId(user_id),
    scopes: JSON.parse(scopes),
  });

/** Of one app: neither expired at `nowSeconds` nor revoked. */
export async function findLiveTokensOfAccount(
  reader: Reader,
  app: NodeId,
  account: { readonly id: NodeId; readonly page: NodeId | undefined },
  nowSeconds: number,
): Promise<AccountToken[]> {
  const own = await reader.all<AccountTokenRow>(sql`
    SELECT CAST(t.user_id AS TEXT) AS user_id, t.scopes FROM tokens t
    WHERE t.social_account = ${account.id} AND t.app = ${app} AND t.type = 'social_user' AND t.revoked_at = 0
      AND (t.expires_at = 0 OR t.expires_at > ${nowSeconds})`);
  const ofPage =
    account.page === undefined
      ? []
      : await reader.all<AccountTokenRow>(sql`
    SELECT CAST(t.user_id AS TEXT) AS user_id, t.scopes FROM tokens t
    WHERE t.page = ${account.page} AND t.app = ${app} AND t.type = 'page' AND t.revoked_at = 0
      AND (t.expires_at = 0 OR t.expires_at > ${nowSeconds})`);
  return [...own.map(tokenOf("social_user")), ...ofPage.map(tokenOf("page"))];
}
