/** The settings that are stored in a world: its clock, profile and seed. */
import type { Database, Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";

export const settingFact = "setting";

export async function findSetting(reader: Reader, name: string): Promise<string | undefined> {
  return (await reader.get<{ value: string }>(sql`SELECT s.value FROM settings s WHERE s.name = ${name}`))?.value;
}

export async function saveSetting(tx: Transaction, name: string, value: string): Promise<void> {
  await tx.runOne(sql`INSERT INTO settings (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
  tx.invalidate(settingFact, name);
}

const EPOCH = "log_epoch";
/** The size in bytes of the random text that identifies an epoch: 64 bits. */
const EPOCH_BYTES = 8;

/**
 * Returns the world's epoch (D-423). An epoch identifies one history of the world's logs: the rows of a log are numbered in the order of commits, and
 * after a reset the numbers begin again. The first reader of a log creates the world's epoch.
 */
export async function epochOf({ database, randomSecret }: { readonly database: Database; randomSecret(byteCount: number): string }): Promise<string> {
  const known = await findSetting(database.reader, EPOCH);
  if (known !== undefined) return known;
  return database.write(async (tx) => {
    await tx.lock("setting", EPOCH);
    const other = await findSetting(tx, EPOCH);
    if (other !== undefined) return other;
    const epoch = randomSecret(EPOCH_BYTES);
    await saveSetting(tx, EPOCH, epoch);
    return epoch;
  });
}

/** Ends the epoch of a world whose data were replaced, even if the restored data contain an epoch. The next reader of a log creates a new epoch. */
export async function endEpoch(tx: Transaction): Promise<void> {
  await tx.run(sql`DELETE FROM settings WHERE name = ${EPOCH}`);
}
