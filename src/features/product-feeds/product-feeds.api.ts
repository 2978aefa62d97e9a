/**
 * The parts of the feature that the program for reading a feed file (`src/cli/processes/child-processes.ts`) imports; the program runs in a process of its
 * own.
 */
export { readFeed } from "./ingestion/feed-reading.ts";
export type { FromReader, ToReader } from "./ingestion/reading-process.ts";
