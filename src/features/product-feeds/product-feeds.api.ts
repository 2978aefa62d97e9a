/** For the program that reads a feed file in a process of its own. */
export { readFeed } from "./ingestion/feed-reading.ts";
export type { FromReader, ToReader } from "./ingestion/reading-process.ts";
