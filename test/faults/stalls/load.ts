/** One thing that a caller sends at its limits. */
import type { Server } from "#harness/server";

export interface Load {
  /** An operation, an upload, a control route or a message of an encoder. */
  readonly work: string;
  readonly shape: string;
  /** Resolves with a word about the end, such as the status, when the server has done all of its work for it. */
  send(server: Served): Promise<string>;
}

/** A server, in this process or another one. */
export type Served = Omit<Server, "kill" | "stop" | "startedInMs" | "log">;

/** How much is sent at once. */
export interface Sizes {
  readonly bodyBytes: number;
  readonly queryBytes: number;
}

/** The server's default limits, less what a request has beside its query. */
export const LIMITS: Sizes = { bodyBytes: 1_048_576, queryBytes: 15_000 };

/** Texts of nearly that many bytes, each the costliest that its kind of reader may meet. */
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
