/** D-386: lists the pages of a person, each with a page token. */
import { hashOf } from "#auth/tokens";
import { findTokenByHash, insertToken, readTokenHash } from "#auth/tokens.store";
import type { ListRequest, ListResult } from "#graph/contract/operation";
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import { findCodeOf, recordToken } from "./login.store.ts";
import { pageTokenValues } from "./login.tokens.ts";

export interface AccountRow extends Row {
  id: string;
  name: string;
  access_token: string;
  /** The person's tasks on the page, as a JSON list. */
  tasks: string;
}

export async function handleListAccounts({ caller, world, node, page }: ListRequest, reader: Reader): Promise<ListResult<Row>> {
  const { token } = caller;
  const found = await world.ports.get("page").pagesOf(reader, node.id, page);
  const valuesOf = pageTokenValues(world, await readTokenHash(reader, token.id));
  const made: AccountRow[] = [];
  const missing: AccountRow[] = [];
  for (const row of found.rows as readonly AccountRow[]) {
    const values = valuesOf(row.id);
    const stored = await findStored(reader, values);
    made.push({ ...row, access_token: stored ?? (values[0] as string) });
    if (stored === undefined) missing.push(made.at(-1) as AccountRow);
  }
  if (missing.length > 0) {
    await world.database.write(async (tx) => {
      const code = await findCodeOf(tx, token.id);
      for (const row of missing) {
        const id = world.ids.mint();
        const of = {
          ...token,
          id,
          type: "page" as const,
          page: nodeId(row.id),
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

/** Returns the first of the given token values that belongs to a stored token; undefined if none of them does. */
async function findStored(reader: Reader, values: readonly string[]): Promise<string | undefined> {
  for (const value of values) if ((await findTokenByHash(reader, hashOf(value))) !== undefined) return value;
  return undefined;
}

/**
 * Returns the time at which a page token expires. A page token of a long-lived user token does not expire; any other page token expires together with
 * its user token.
 */
const expiryOf = (expiresAt: number, issuedAt: number): number => (expiresAt - issuedAt > A_DAY_SECONDS ? 0 : expiresAt);
const A_DAY_SECONDS = 86_400;
