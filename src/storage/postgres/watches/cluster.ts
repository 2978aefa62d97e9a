/**
 * The cluster of PostgreSQL servers that this process uses. Each failover of the cluster begins a new timeline. After a failover the earlier primary
 * may come back and accept writes that no other server receives, so this process does not use the earlier primary (D-348).
 */
import type { Client } from "pg";
import type { DatabaseHealth } from "../../database-health.ts";
import { StalePrimary } from "../failures.ts";

/** The position of a server that accepts writes: its cluster and its timeline. */
export interface Position {
  /** The identifier of the cluster, which is the same on all its servers. */
  readonly system: string;
  /** The number of the timeline, which grows with each failover. */
  readonly timeline: number;
}

export class Cluster {
  readonly #health: DatabaseHealth;
  /** The newest position of any server on which a session was opened. */
  #seen: Position | undefined;
  /** The timeline of each open session. */
  readonly #sessions = new Map<Client, number>();

  constructor(health: DatabaseHealth) {
    this.#health = health;
  }

  /** Whether this process has already used a server of this cluster. */
  get isKnown(): boolean {
    return this.#seen !== undefined;
  }

  /**
   * Records that a new session was opened on a server. If the server's timeline is newer than the newest known timeline, the sessions on older
   * timelines are closed. If the server's timeline is older, throws `StalePrimary`.
   */
  use(client: Client, position: Position): void {
    const seen = this.#seen;
    if (seen !== undefined && isBehind(position, seen)) throw this.refuse(position, seen);
    this.#seen = position;
    this.#sessions.set(client, position.timeline);
    client.on("end", () => this.#sessions.delete(client));
    if (seen === undefined || seen.timeline === position.timeline) return;
    for (const [older, timeline] of this.#sessions) if (timeline < position.timeline) cutOff(older);
  }

  /** Reports a server that must not be used, and returns the error for its session. */
  refuse({ system, timeline }: Position, newer: Position): StalePrimary {
    const error =
      system === newer.system
        ? new StalePrimary(`the server is on timeline ${timeline}, and another server is on timeline ${newer.timeline}`)
        : new StalePrimary(`the server belongs to the cluster ${system}, and another server belongs to ${newer.system}`);
    this.#health.failed("stale_primary", error);
    return error;
  }
}

export const isBehind = (one: Position, other: Position): boolean => one.system !== other.system || one.timeline < other.timeline;

/** Ends a session as if its connection had broken, so that the code that uses the session opens another session. */
function cutOff(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection;
  stream.destroy(Object.assign(new Error("Connection terminated: another server was promoted"), { code: "ECONNRESET" }));
}

/**
 * Reads the cluster and the timeline of a server. Resolves with undefined if the server does not report its position, which some services compatible
 * with PostgreSQL do not.
 */
export async function positionOf(client: Client): Promise<Position | undefined> {
  try {
    const { rows } = await client.query<{ system: string; wal: string }>(
      "SELECT CAST(system_identifier AS TEXT) AS system, pg_walfile_name(pg_current_wal_insert_lsn()) AS wal FROM pg_control_system()",
    );
    const [row] = rows;
    // The first eight hexadecimal digits in the name of a WAL file are the timeline.
    return row === undefined ? undefined : { system: row.system, timeline: Number.parseInt(row.wal.slice(0, 8), 16) };
  } catch (error) {
    // The error code 42501 is a missing right, 42883 a function that does not exist, 0A000 a feature that is not supported, and 55000 a server that
    // has just become a standby.
    if (["42501", "42883", "0A000", "55000"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
