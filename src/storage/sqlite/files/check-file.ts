/** Checks whether a file of a world is intact (D-343). */
import { Database } from "bun:sqlite";
import { closeSync, openSync, readSync, statSync } from "node:fs";

/** The error for a file that is damaged or empty; the error message states the damage. */
export class DamagedFile extends Error {
  constructor(file: string, problem: string) {
    super(`${file} ${problem}: restore the file from a backup`);
    this.name = "DamagedFile";
  }
}

/** The size of a SQLite file's header (sqlite.org/fileformat2). */
const HEADER_BYTES = 100;
const PAGE_BYTES_AT = 16;
const PAGES_AT = 28;
const LARGEST_PAGE_BYTES = 65_536;

/**
 * Compares the size of a file with the size in its header. No connection of this process may have the file open. Returns the problem of the file, or
 * undefined if the two sizes agree.
 */
export function problemOfSize(file: string): string | undefined {
  const { size } = statSync(file);
  if (size === 0) return "is empty";
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, "r");
  readSync(handle, header);
  closeSync(handle);
  if (!header.toString("latin1").startsWith("SQLite format 3\0")) return undefined;
  // If the write-ahead log has pages that are not in the database file yet, the file may be shorter than its header says.
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
  const pageBytes = header.readUInt16BE(PAGE_BYTES_AT);
  const bytes = header.readUInt32BE(PAGES_AT) * (pageBytes === 1 ? LARGEST_PAGE_BYTES : pageBytes);
  return size < bytes ? `has ${size} bytes, and should have ${bytes}` : undefined;
}

/** Reads the whole database file through a connection. Returns the problem of the file, or undefined if the file is intact. */
export function problemOfContent(connection: Database): string | undefined {
  try {
    const statement = connection.prepare<{ quick_check: string }, []>("PRAGMA quick_check(1)");
    const found = statement.get()?.quick_check;
    statement.finalize();
    return found === "ok" ? undefined : `is damaged (${found?.replaceAll("\n", " ")})`;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code)))) throw error;
    return `is damaged (${error.message})`;
  }
}

/** Reads a whole database file that other programs may use meanwhile. Returns the problem of the file, or undefined if the file is intact. */
export function problemOfFile(file: string): string | undefined {
  let connection: Database | undefined;
  try {
    connection = new Database(file, { readonly: true });
    return problemOfContent(connection);
  } catch (error) {
    return `cannot be read (${error instanceof Error ? error.message : error})`;
  } finally {
    connection?.close();
  }
}
