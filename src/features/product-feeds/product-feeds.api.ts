/** The function and types that `src/cli/processes/child-processes.ts` imports to read a feed file in a child process. */
export { readFeed } from "./ingestion/feed-reading.ts";
export type { FromReader, ToReader } from "./ingestion/reading-process.ts";
