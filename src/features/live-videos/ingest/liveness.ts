/** A living ingest process reports once a second; one that stalls for so long is dead. */
export const DEAD_AFTER_MS = 10_000;
/**
 * To an encoder with the right key the feed of a process that stalls for so long gives way, as that of an encoder that is silent for 3 s does
 * (D-115): a second more, because a process reports once a second, and another one, by which the clocks of two servers may differ. The
 * other feeds of the process go on until it is dead.
 */
export const SILENT_AFTER_MS = 5_000;
