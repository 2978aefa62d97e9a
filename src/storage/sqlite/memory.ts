/** Connections to databases in memory, and those that nothing uses any more. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "./connection.ts";

export interface MemoryConnections {
  readonly writer: Connection;
  readonly reader: Connection;
  readonly snapshot: Connection;
}

/**
 * In SQLite's own in-memory database readers wait for the writer. This one therefore has files in a private folder, unlinked as
 * soon as every connection has opened them, so that nothing remains however the process ends.
 */
export function connectInMemory(image: Uint8Array): MemoryConnections {
  const folder = mkdtempSync(join(tmpdir(), "plaza-"));
  const file = join(folder, "memory.sqlite");
  try {
    writeFileSync(file, image, { mode: 0o600 });
    const connect = (role: "writer" | "reader"): Connection => Connection.open(file, { role, synchronous: "OFF" });
    return { writer: connect("writer"), reader: connect("reader"), snapshot: connect("reader") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Twice an empty one: emptied, a larger one would stay as large, and so would what is saved of it. */
const BYTES_MAX = 1024 * 1024;

/**
 * A suite of tests makes a world for each test. Connections, their files and their prepared statements are most of what a small world
 * takes, so those of a world that has ended serve the next one, emptied.
 */
export class SpareConnections {
  #max: number;
  readonly #spare: MemoryConnections[] = [];

  /** `max`: as many are kept. */
  constructor(max: number) {
    this.#max = max;
  }

  /** To an empty database; undefined: there are none. */
  take(): MemoryConnections | undefined {
    return this.#spare.pop();
  }

  giveBack({ writer, reader, snapshot }: MemoryConnections): void {
    const given = { writer: writer.handOver(), reader: reader.handOver(), snapshot: snapshot.handOver() };
    if (this.#spare.length < this.#max && isEmptied(given.writer)) this.#spare.push(given);
    else closeAll(given);
  }

  /** None is kept from now on. */
  close(): void {
    this.#max = 0;
    for (const connections of this.#spare.splice(0)) closeAll(connections);
  }
}

function isEmptied(writer: Connection): boolean {
  if (writer.bytes > BYTES_MAX) return false;
  try {
    return writer.replaceContent(writer.tablesOf([]), undefined);
  } catch {
    // Of a full disk, say: it is closed.
    return false;
  }
}

export function closeAll({ writer, reader, snapshot }: MemoryConnections): void {
  for (const connection of [snapshot, reader, writer]) connection.close();
}
