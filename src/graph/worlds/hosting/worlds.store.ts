/** The list of worlds, which is stored in the first world. All times in the list of worlds are real time. */
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

/** A world in the list of worlds. */
export interface WorldRow extends Row {
  name: string;
  made_ms: number;
  /** The name of the world's database in `--databases`. The name is null for the server's first database. */
  database: string | null;
}

/** Adds a world to the list, with the name of its database. Returns whether the name of the world was free. */
export async function insertWorld(tx: Transaction, name: string, madeMs: number, database: string | null = null): Promise<boolean> {
  const added = sql`INSERT INTO worlds (name, made_ms, database) VALUES (${name}, ${madeMs}, ${database}) ON CONFLICT DO NOTHING`;
  return (await tx.run(added)) === 1;
}

/**
 * The database of a world (D-420). `database` is null for the server's first database. `moving_to` is null unless the world is being moved to another
 * database.
 */
export interface PlaceRow extends Row {
  name: string;
  database: string | null;
  moving_to: string | null;
}

export function findPlace(reader: Reader, name: string): Promise<PlaceRow | undefined> {
  return reader.get<PlaceRow>(sql`SELECT w.name, w.database, w.moving_to FROM worlds w WHERE w.name = ${name}`);
}

export function listMoving(reader: Reader): Promise<PlaceRow[]> {
  return reader.all<PlaceRow>(sql`SELECT w.name, w.database, w.moving_to FROM worlds w WHERE w.moving_to IS NOT NULL`);
}

export async function countWorldsIn(reader: Reader, database: string | null): Promise<number> {
  const counted =
    database === null
      ? sql`SELECT COUNT(*) AS count FROM worlds w WHERE w.database IS NULL`
      : sql`SELECT COUNT(*) AS count FROM worlds w WHERE w.database = ${database}`;
  return (await reader.get<{ count: number }>(counted))?.count ?? 0;
}

/**
 * Finds a world whose database has a name after `database` in the order of names. If several databases come after `database`, the first in the order
 * of names is chosen.
 */
export function findPlaceAfter(reader: Reader, database: string): Promise<PlaceRow | undefined> {
  return reader.get<PlaceRow>(sql`SELECT w.name, w.database, w.moving_to FROM worlds w WHERE w.database > ${database} ORDER BY w.database LIMIT 1`);
}

/**
 * Locks the row of a world in the list of worlds. The lock prevents one process from recording that it has opened the world while another process
 * begins to move it.
 */
export const lockPlace = (tx: Transaction, name: string): Promise<void> => tx.lock("world", name);

/** Stores that a move of the world has begun. Returns false if the world does not exist. */
export async function beginMove(tx: Transaction, name: string, to: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE worlds SET moving_to = ${to} WHERE name = ${name}`)) === 1;
}

/** Stores the new database of a world at the end of its move, and that the world may have work now. */
export async function endMove(tx: Transaction, name: string, database: string | null, nowMs: number): Promise<void> {
  await tx.run(sql`UPDATE worlds SET database = ${database}, moving_to = NULL, wake_ms = ${nowMs} WHERE name = ${name}`);
}

/** Whether at least one process has the world open. */
export async function isOpenAnywhere(reader: Reader, name: string, nowMs: number): Promise<boolean> {
  return (await reader.get(sql`SELECT 1 AS one FROM open_worlds o WHERE o.name = ${name} AND o.until_ms >= ${nowMs} LIMIT 1`)) !== undefined;
}

/** Stores the time at which the next work of an idle world is due, in Unix ms. The time is null if the world has no work, or is open. */
export async function setWakeTime(tx: Transaction, name: string, wakeMs: number | null): Promise<void> {
  await tx.run(sql`UPDATE worlds SET wake_ms = ${wakeMs} WHERE name = ${name} AND wake_ms IS DISTINCT FROM ${wakeMs}`);
}

interface WakeRow extends Row {
  name: string;
  wake_ms: number;
}

/** Returns the idle worlds that have work, each with the time at which the work is due. The world with the earliest work comes first. */
export function findWakeTimes(reader: Reader): Promise<WakeRow[]> {
  return reader.all<WakeRow>(sql`SELECT w.name, w.wake_ms FROM worlds w WHERE w.wake_ms IS NOT NULL ORDER BY w.wake_ms`);
}

export function findDueWorlds(reader: Reader, nowMs: number): Promise<WakeRow[]> {
  return reader.all<WakeRow>(sql`SELECT w.name, w.wake_ms FROM worlds w WHERE w.wake_ms <= ${nowMs} ORDER BY w.wake_ms`);
}

/** Stores that a process has a world open until `untilMs`, in Unix ms. */
export async function saveOpening(tx: Transaction, name: string, process: string, untilMs: number): Promise<void> {
  await tx.run(sql`
    INSERT INTO open_worlds (name, process, until_ms)
    SELECT w.name, CAST(${process} AS TEXT), CAST(${untilMs} AS BIGINT) FROM worlds w WHERE w.name = ${name} AND w.moving_to IS NULL
    ON CONFLICT (name, process) DO UPDATE SET until_ms = excluded.until_ms`);
}

/** Renews the leases of a process for all its open worlds. Returns the number of renewed leases. */
export function renewOpenings(tx: Transaction, process: string, untilMs: number): Promise<number> {
  return tx.run(sql`UPDATE open_worlds SET until_ms = ${untilMs} WHERE process = ${process}`);
}

export async function endOpenings(tx: Transaction, process: string): Promise<void> {
  await tx.run(sql`UPDATE open_worlds SET until_ms = 0 WHERE process = ${process}`);
}

export async function deleteOpening(tx: Transaction, name: string, process: string): Promise<void> {
  await tx.run(sql`DELETE FROM open_worlds WHERE name = ${name} AND process = ${process}`);
}

/** Deletes the expired leases of other processes for a world. */
export async function deleteEndedOpenings(tx: Transaction, name: string, process: string, beforeMs: number): Promise<void> {
  await tx.run(sql`DELETE FROM open_worlds WHERE name = ${name} AND process <> ${process} AND until_ms < ${beforeMs}`);
}

/** Finds the worlds that ended processes had open. */
export function findEndedOpenings(reader: Reader, process: string, beforeMs: number): Promise<{ name: string }[]> {
  return reader.all<{ name: string }>(
    sql`SELECT DISTINCT o.name FROM open_worlds o WHERE o.process <> ${process} AND o.until_ms < ${beforeMs} ORDER BY o.name`,
  );
}

/** Removes a world from the list of worlds. Returns false if the list of worlds did not have the world. */
export async function deleteWorldRow(tx: Transaction, name: string): Promise<boolean> {
  await tx.run(sql`DELETE FROM open_worlds WHERE name = ${name}`);
  return (await tx.run(sql`DELETE FROM worlds WHERE name = ${name}`)) === 1;
}

export async function hasWorld(reader: Reader, name: string): Promise<boolean> {
  return (await reader.get(sql`SELECT 1 AS one FROM worlds w WHERE w.name = ${name}`)) !== undefined;
}

const byName = ordered("ascending", "w.name");

export function listWorldRows(reader: Reader, page: PageRequest): Promise<ListPage<WorldRow>> {
  return readPage<WorldRow>(reader, sql`SELECT w.name, w.made_ms, w.database FROM worlds w WHERE w.name > ''`, byName, page);
}

/** The name of the first world (D-260). */
export const DEFAULT_WORLD = "default";

/**
 * A pattern for the names of worlds. A world's name can be the label of a host name, a file name and, after `plaza_`, the name of a database schema.
 * Names of worlds are in lower case, because file systems and host names may ignore case.
 */
const NAME = /^[a-z0-9]([a-z0-9_-]{0,55}[a-z0-9])?$/;
export const WORLD_NAME = NAME.source;

export const isWorldName = (name: string): boolean => NAME.test(name);
