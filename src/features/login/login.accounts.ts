/** D-386: the pages of a person, each with a page token. */
import { hashOf } from "#auth/tokens";
import { findTokenByHash, insertToken } from "#auth/tokens.store";
import type { ListRequest, ListResult } from "#graph/contract/operation";
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import { findCodeOf, recordToken } from "./login.store.ts";
import { pageTokenValue } from "./login.tokens.ts";

export interface AccountRow extends Row {
  id: string;
  name: string;
  access_token: string;
  /** A list as JSON. */
  tasks: string;
}

export async function handleListAccounts({ caller, world, node, page }: ListRequest, reader: Reader): Promise<ListResult<Row>> {
  const { token } = caller;
  const found = await world.ports.get("page").pagesOf(reader, node.id, page);
  const made = found.rows.map((row) => ({ ...row, access_token: pageTokenValue(world, token.id, String(row.id)) }));
  const missing: typeof made = [];
  for (const row of made) if ((await findTokenByHash(reader, hashOf(row.access_token))) === undefined) missing.push(row);
  if (missing.length > 0) {
    await world.database.write(async (tx) => {
      const code = await findCodeOf(tx, token.id);
      for (const row of missing) {
        const id = world.ids.mint();
        const of = {
          ...token,
          id,
          type: "page" as const,
          page: nodeId(String(row.id)),
          user: node.id,
          expires_at: expiryOf(token.expires_at, token.issued_at),
        };
        const isNew = await insertToken(tx, of, hashOf(row.access_token));
        if (isNew && code !== undefined) await recordToken(tx, id, code);
      }
    });
  }
  return { ...found, rows: made };
}

/** A page token of a long-lived token does not expire; any other ends with its user's token. */
const expiryOf = (expiresAt: number, issuedAt: number): number => (expiresAt - issuedAt > A_DAY_SECONDS ? 0 : expiresAt);
const A_DAY_SECONDS = 86_400;
