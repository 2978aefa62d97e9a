/** Stored settings of a world: its clock, profile and seed. */
import type { Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";

export const settingFact = "setting";

export async function findSetting(reader: Reader, name: string): Promise<string | undefined> {
  return (await reader.get<{ value: string }>(sql`SELECT s.value FROM settings s WHERE s.name = ${name}`))?.value;
}

export async function saveSetting(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.runOne(sql`INSERT INTO settings (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
  tx.invalidate(settingFact, name);
}
