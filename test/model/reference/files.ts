/**
 * Feed files at URLs, and the schedules by which the server fetches them. The URL of a feed file contains the rows of the file, so that the model
 * knows the file and the receiver of webhooks can serve it.
 */
import type { FeedRow } from "./requests.ts";

const FOLDER = "/files/";

/** The path that serves these rows. null stands for a file that is not a feed file. */
export const pathOfFile = (rows: readonly FeedRow[] | null): string => `${FOLDER}${Buffer.from(JSON.stringify(rows)).toString("base64url")}`;

export const isFile = (address: string): boolean => new URL(address).pathname.startsWith(FOLDER);

/** The rows of the file at a URL; undefined if the URL serves nothing. */
export function rowsAt(address: string): FeedRow[] | null | undefined {
  const name = new URL(address).pathname.slice(FOLDER.length);
  try {
    return JSON.parse(Buffer.from(name, "base64url").toString());
  } catch {
    return undefined;
  }
}

export const KINDS = ["schedule", "update_schedule"] as const;
export type ScheduleKind = (typeof KINDS)[number];

export interface Schedule {
  readonly interval: "HOURLY" | "DAILY" | "WEEKLY" | "MONTHLY";
  readonly interval_count: number;
  readonly url: string;
  readonly hour: number;
  readonly minute: number;
  readonly day_of_week: string;
  readonly day_of_month: number;
  readonly timezone: string;
}

export interface PlannedFetch {
  readonly schedule: Schedule;
  readonly isUpdate: boolean;
  /** The time of the next scheduled fetch. */
  due: number;
}
