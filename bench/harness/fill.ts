/**
 * Large data sets: Plaza makes its database and stops, the rows are written straight into the file, Plaza starts again.
 * A million nodes take seconds this way.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { labels, PAGE, people, personas, TOKEN, world } from "./data.ts";
import { dataFolder, LABELS_UNLIMITED, type Server, startPlaza } from "./server.ts";

export interface Amounts {
  readonly labels?: number;
  readonly personas?: number;
  /** People of the page, each with one label. */
  readonly people?: number;
}

export async function startFilledPlaza(amounts: Amounts): Promise<Server> {
  const empty = await startPlaza({ world: world(), settings: LABELS_UNLIMITED });
  await empty.stop({ keepFolder: true });
  fill(join(dataFolder(empty.folder), "default.sqlite"), amounts);
  return startPlaza({ folder: empty.folder, settings: LABELS_UNLIMITED });
}
