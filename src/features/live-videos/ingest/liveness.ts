/** A living ingest process reports once a second; one that stalls for so long is dead. */
export const DEAD_AFTER_MS = 10_000;
