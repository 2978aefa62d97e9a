/** The list of worlds, which the first of them keeps for the server. Real time. */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface WorldRow extends Row {
  name: string;
  made_ms: number;
}

/** When a world has work again, in Unix ms; 0: a process has it open, or had when it was killed; null: it has none. */
type WakeTime = number | null;
export const IS_OPEN = 0;

/** Returns whether the name was free. */
export async function insertWorld(tx: Transaction, name: string, madeMs: number, wakeMs: WakeTime): Promise<boolean> {
  return (await tx.run(sql`INSERT INTO worlds (name, made_ms, wake_ms) VALUES (${name}, ${madeMs}, ${wakeMs}) ON CONFLICT DO NOTHING`)) === 1;
}

export async function setWakeTime(tx: Transaction, name: string, wakeMs: WakeTime): Promise<void> {
  await tx.runAny(sql`UPDATE worlds SET wake_ms = ${wakeMs} WHERE name = ${name} AND wake_ms IS DISTINCT FROM ${wakeMs}`);
}

interface WakeRow extends Row {
  name: string;
  wake_ms: number;
}

/** The first one first. */
export function findWakeTimes(reader: Reader): Promise<WakeRow[]> {
  return reader.all<WakeRow>(sql`SELECT w.name, w.wake_ms FROM worlds w WHERE w.wake_ms IS NOT NULL ORDER BY w.wake_ms`);
}

/** Returns whether it was there. */
export async function deleteWorldRow(tx: Transaction, name: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM worlds WHERE name = ${name}`)) === 1;
}

export async function hasWorld(reader: Reader, name: string): Promise<boolean> {
  return (await reader.get(sql`SELECT 1 AS one FROM worlds w WHERE w.name = ${name}`)) !== undefined;
}

const byName = { columns: ["w.name"], direction: "ascending", keyOf: (row: WorldRow) => [row.name] } as const;

export function listWorldRows(reader: Reader, page: PageRequest): Promise<ListPage<WorldRow>> {
  return readPage<WorldRow>(reader, sql`SELECT w.name, w.made_ms FROM worlds w WHERE w.name > ''`, byName, page);
}
