/** A request, file or message that a caller sends at its limits. */
import type { Server } from "#harness/server";

export interface Load {
  /** The operation, upload, control route or message of an encoder that the load is for. */
  readonly work: string;
  readonly shape: string;
  /**
   * The load makes the server do one long write. On SQLite, which has one writer, the writes of other callers wait for the end of the load (D-338),
   * so the test judges only their reads.
   */
  readonly isLongWrite?: boolean;
  /** Sends the load. Resolves with the outcome, such as the status, when the server has done all of its work for the load. */
  send(server: Served): Promise<string>;
}

/** A server in this process or in another process. */
export type Served = Omit<Server, "kill" | "stop" | "startedInMs" | "log">;

/** The sizes of the parts of a message that are sent at once. */
export interface Sizes {
  readonly bodyBytes: number;
  readonly queryBytes: number;
}

/** The default limits of the server. Of the limit for the head of a request, the query leaves a part for the other lines of the head. */
export const LIMITS: Sizes = { bodyBytes: 1_048_576, queryBytes: 15_000 };

/**
 * The JSON texts have nearly this number of bytes. Each text is the most expensive one for one type of JSON reader.
 */
export const hostileJson = (bytes: number, name: string): Readonly<Record<string, string>> => {
  const filled = (before: string, part: string, after: string): string =>
    before + part.repeat(Math.floor((bytes - before.length - after.length) / part.length)) + after;
  const key = JSON.stringify(name);
  const fields = Array.from({ length: Math.floor(bytes / 14) }, (_, at) => `"f${at}":1`);
  return {
    "one text": filled(`{${key}:"`, "x", '"}'),
    escapes: filled(`{${key}:"`, "\\u00e9", '"}'),
    "most fields": `{${fields
      .join(",")
      .slice(0, bytes - 20)
      .replace(/,[^,]*$/, "")}}`,
    "a list of numbers": filled(`{${key}:[`, "1,", "1]}"),
    "a list of lists": filled(`{${key}:[`, "[],", "[]]}"),
    "a list of objects": filled(`{${key}:[`, '{"a":{}},', "{}]}"),
    "long digits": filled(`{${key}:[`, "12345678901234567,", "1]}"),
    "one long number": filled(`{${key}:`, "7", "}"),
    "deepest lists": filled(`{${key}:[`, `${"[".repeat(30)}${"]".repeat(30)},`, "1]}"),
    "too deep": filled(`{${key}:`, "[", ""),
  };
};
