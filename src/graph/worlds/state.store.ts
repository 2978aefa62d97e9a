/** Whether a world holds anything, and the hash of a token for an export. */
import type { Reader } from "#storage/database";
import { sql } from "#storage/sql";

export async function hasAnything(reader: Reader): Promise<boolean> {
  const node = await reader.get(sql`SELECT 1 AS one FROM nodes LIMIT 1`);
  return node !== undefined || (await reader.get(sql`SELECT 1 AS one FROM tokens LIMIT 1`)) !== undefined;
}

/** Hex SHA-256 of a token's value, by the token's id. */
export async function findTokenHash(reader: Reader, id: string): Promise<string | undefined> {
  return (await reader.get<{ hash: string }>(sql`SELECT t.hash FROM tokens t WHERE t.id = ${id}`))?.hash;
}
