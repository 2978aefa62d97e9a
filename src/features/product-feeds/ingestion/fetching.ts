/** Feed files at an address: fetched by the one guarded way out (D-64), stored like those that are sent. */
import type { World } from "#graph/worlds/world";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import { FeedFileProblem } from "../formats/rows.ts";
import { FILE_BYTES_MAX } from "../product-feeds.limits.ts";
import { PartWriter } from "./parts.ts";
import { completeUpload, deleteParts, type RunningUpload } from "./uploads.store.ts";

/** A gigabyte at 5 Mbit/s. */
const DEADLINE_MS = 30 * 60_000;
/** More parts than any file has. */
const PARTS_MAX = 1_000_000;

/** Answers why the file did not come; undefined when it is stored. */
export async function fetchFile(world: World, { feed, n }: RunningUpload, url: string): Promise<string | undefined> {
  // What an earlier run fetched may be of another day's file.
  await world.database.write((tx) => deleteParts(tx, feed, n, PARTS_MAX));
  const parts = new PartWriter(world, feed, n);
  try {
    const response = await world.outbound.request({
      method: "GET",
      url,
      headers: { Accept: "*/*", "Accept-Encoding": "identity", "User-Agent": "plaza" },
      deadlineMs: DEADLINE_MS,
      // One byte more than is allowed tells a file that is too large.
      responseBytesMax: FILE_BYTES_MAX + 1,
      takeBody: (part) => parts.write(part),
    });
    if (response.status >= 300 && response.status < 400) return `the address answered with status ${response.status}; redirects are not followed`;
    if (response.status !== 200) return `the address answered with status ${response.status}`;
  } catch (error) {
    if (error instanceof CallbackRefused || error instanceof RequestFailed || error instanceof FeedFileProblem) return error.message;
    throw error;
  }
  const bytes = await parts.end();
  await world.database.write((tx) => completeUpload(tx, feed, n, bytes, "running", "running"));
  return undefined;
}
