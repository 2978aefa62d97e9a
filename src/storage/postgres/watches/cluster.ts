/**
 * The cluster of PostgreSQL that this process uses. A failover begins a new timeline, and the server from before may come back and accept writes
 * that nobody else sees. Such a server is not used (D-348).
 */
import type { Client } from "pg";
import type { DatabaseHealth } from "../../database-health.ts";
import { StalePrimary } from "../failures.ts";

/** A server that accepts writes. */
export interface Position {
  /** Of the cluster, the same on all its servers. */
  readonly system: string;
  /** Grows with each failover. */
  readonly timeline: number;
}

export class Cluster {
  readonly #health: DatabaseHealth;
  /** The newest that was seen. */
  #seen: Position | undefined;
  /** Open sessions, and the timeline of each. */
  readonly #sessions = new Map<Client, number>();

  constructor(health: DatabaseHealth) {
    this.#health = health;
  }

  /** Whether a server was used already. */
  get isKnown(): boolean {
    return this.#seen !== undefined;
  }

  /** A session on a server. Throws `StalePrimary`. If the timeline is a newer one, the sessions on older ones are cut off. */
  use(client: Client, position: Position): void {
    const seen = this.#seen;
    if (seen !== undefined && isBehind(position, seen)) throw this.refuse(position, seen);
    this.#seen = position;
    this.#sessions.set(client, position.timeline);
    client.on("end", () => this.#sessions.delete(client));
    if (seen === undefined || seen.timeline === position.timeline) return;
    for (const [older, timeline] of this.#sessions) if (timeline < position.timeline) cutOff(older);
  }

  /** Reports the server. */
  refuse({ system, timeline }: Position, newer: Position): StalePrimary {
    const error =
      system === newer.system
        ? new StalePrimary(`it is on timeline ${timeline}, and another server on timeline ${newer.timeline}`)
        : new StalePrimary(`it is of the cluster ${system}, and another server of ${newer.system}`);
    this.#health.failed("stale_primary", error);
    return error;
  }
}

export const isBehind = (one: Position, other: Position): boolean => one.system !== other.system || one.timeline < other.timeline;

/** As if the connection had broken, so that its user takes another one. */
function cutOff(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection;
  stream.destroy(Object.assign(new Error("Connection terminated: another server was promoted"), { code: "ECONNRESET" }));
}

/** Undefined: the server does not say, as some services that are compatible with PostgreSQL. */
export async function positionOf(client: Client): Promise<Position | undefined> {
  try {
    const { rows } = await client.query<{ system: string; wal: string }>(
      "SELECT CAST(system_identifier AS TEXT) AS system, pg_walfile_name(pg_current_wal_insert_lsn()) AS wal FROM pg_control_system()",
    );
    const [row] = rows;
    // The first eight hexadecimal digits are the timeline.
    return row === undefined ? undefined : { system: row.system, timeline: Number.parseInt(row.wal.slice(0, 8), 16) };
  } catch (error) {
    // 42501: a missing right; 42883: no such function; 0A000: not supported; 55000: it has just become a standby.
    if (["42501", "42883", "0A000", "55000"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
