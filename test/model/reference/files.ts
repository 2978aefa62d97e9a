/** Files of feeds at addresses. An address says what it serves, so that the model knows it and the receiver of webhooks can serve it. */
import type { FeedRow } from "./requests.ts";

const FOLDER = "/files/";

/** The path at which these rows are served; null: what is no file of a feed. */
export const pathOfFile = (rows: readonly FeedRow[] | null): string => `${FOLDER}${Buffer.from(JSON.stringify(rows)).toString("base64url")}`;

export const isFile = (address: string): boolean => new URL(address).pathname.startsWith(FOLDER);

/** Undefined: nothing is there. */
export function rowsAt(address: string): FeedRow[] | null | undefined {
  const name = new URL(address).pathname.slice(FOLDER.length);
  try {
    return JSON.parse(Buffer.from(name, "base64url").toString());
  } catch {
    return undefined;
  }
}
