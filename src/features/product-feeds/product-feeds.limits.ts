/** The limits of feed files. Everything whose size a file determines has a limit. */

/** The longest row. Most of a row may be in columns that items do not have, such as pages of HTML. A reader has one row in memory. */
export const ROW_CHARACTERS_MAX = 1_048_576;
/** The part of a value that a reader keeps: more than any field accepts, so that the field's own rule refuses a longer value. */
export const VALUE_CHARACTERS_MAX = 65_536;
/**
 * The number of characters of a CSV file that may be read again after rows with wrong quotes. When more would be read again, each line is taken for a
 * whole row. Without this limit a file in which each line opens a quote would be read a million times.
 */
export const RESCANNED_CHARACTERS_MAX = 16 * 1_048_576;
/** The greatest number of rows of a file, which take some 1.7 GB in the database. A larger shop must split its feed. */
export const ROWS_MAX = 5_000_000;
/** The largest file as it is sent: it can hold five million ordinary rows, or many more if it is compressed. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024 * 1024;
/** The largest unpacked file. gzip compresses text to about a tenth. */
export const UNPACKED_BYTES_MAX = 16 * 1024 * 1024 * 1024;
/**
 * D-314: the largest ratio of a file's unpacked size to its packed size. gzip can compress data to a thousandth, but real feeds to a fiftieth at
 * most.
 */
export const UNPACKED_RATIO_MAX = 200;
/** D-314: up to this unpacked size the ratio is not checked, because small files with many equal rows can be honest. */
export const UNPACKED_FREELY_BYTES = 16 * 1024 * 1024;
/**
 * D-314: an upload fails after this number of processes have ended while they read it. If the machine is short of memory, one or two processes may
 * end while they read an honest file.
 */
export const READERS_MAX = 3;
/**
 * D-314: the greatest number of runs of one upload. A machine that is short of memory may end the server together with the process that reads the
 * file. On an ordinary day the server restarts fewer times than this.
 */
export const RUNS_MAX = 20;
/** D-141: the most bad rows that a report contains. All bad rows are counted, and a systematic error shows in the first hundred. */
export const BAD_ROWS_KEPT_MAX = 100;

/** The number of characters that are passed to a parser at once: some 150 rows. */
export const PIECE_CHARACTERS = 32_768;
/**
 * The greatest number of rows in one write. A write of this number of rows blocks other writes for some 8 ms, and the cost of its commit is
 * negligible.
 */
export const ROWS_PER_WRITE = 2_000;
/** The size of the parts in which a file is stored. Storing a part is one durable write, so a file has only a few parts. */
export const PART_BYTES = 1024 * 1024;
/** The longest address of a file. Some signed addresses have more than a thousand characters. */
export const FETCHED_URL_CHARACTERS_MAX = 2_048;
/**
 * D-147: the largest file in a request of the graph, because such a file is in memory. Callers send larger files by address or through the control
 * API.
 */
export const REQUEST_BYTES_MAX = 8 * 1024 * 1024;
/**
 * D-147: the most uploads of one feed that wait to be read, because their files are stored until they are read. The control API does not have this
 * limit.
 */
export const UPLOADS_WAITING_MAX = 20;
/** D-146: the most feeds of one catalog, because a catalog is deleted with all its feeds in one transaction. */
export const FEEDS_MAX = 1_000;
export const FEED_NAME_CHARACTERS_MAX = 200;
/** D-142: the number of finished uploads whose reports are kept for each feed. */
export const UPLOADS_KEPT_MAX = 100;
