/** The limits of feed files. Plaza limits each size that depends on the content of a file. */

/**
 * The longest row, because a reader has the whole row in memory. A row may also have long values that are not fields of an item, such as pages of
 * HTML.
 */
export const ROW_CHARACTERS_MAX = 1_048_576;
/**
 * The number of characters that a reader keeps of a longer value. The number is larger than the limit of each field, so Plaza still refuses the
 * shortened value.
 */
export const VALUE_CHARACTERS_MAX = 65_536;
/**
 * The number of characters of a CSV file that may be read again after rows with wrong quotes. When the limit is reached, the reader treats each line
 * as a whole row. Without a limit on characters that are read again, a file in which each line opens a quote would be read a million times.
 */
export const RESCANNED_CHARACTERS_MAX = 16 * 1_048_576;
/**
 * The greatest number of rows of a file. Five million rows take some 1.7 GB in the database. A shop with more than five million items must split its
 * feed.
 */
export const ROWS_MAX = 5_000_000;
/** The greatest size of a file as it is sent. A file of 4 GiB can have five million ordinary rows, or many more if it is compressed. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024 * 1024;
/** The greatest size of an unpacked file. gzip compresses text to about a tenth of its size. */
export const UNPACKED_BYTES_MAX = 16 * 1024 * 1024 * 1024;
/**
 * D-314: the largest ratio of a file's unpacked size to its packed size. gzip can compress data to a thousandth of their size, but real feeds to a
 * fiftieth at most.
 */
export const UNPACKED_RATIO_MAX = 200;
/** D-314: up to this unpacked size the ratio is not checked, because a small valid file with many equal rows can have a high ratio. */
export const UNPACKED_FREELY_BYTES = 16 * 1024 * 1024;
/**
 * D-314: the number of processes that may end while they read an upload, before the upload fails. If the machine is short of memory, one or two
 * processes may end although the file is valid.
 */
export const READERS_MAX = 3;
/**
 * D-314: the greatest number of runs of one upload. If the machine is short of memory, the operating system may end the server together with the
 * process that reads the file. On an ordinary day the server restarts fewer than 20 times, so a valid file does not reach the limit.
 */
export const RUNS_MAX = 20;
/**
 * D-141: the greatest number of bad rows that a report lists. The report counts all bad rows, and the first hundred are enough to find a repeated
 * mistake.
 */
export const BAD_ROWS_KEPT_MAX = 100;

/** The number of characters that are passed to a parser at once: some 150 rows. */
export const PIECE_CHARACTERS = 32_768;
/** The greatest number of rows in one write. A write of 2,000 rows blocks other writes for some 8 ms, and the cost of its commit is negligible. */
export const ROWS_PER_WRITE = 2_000;
/** The size of the parts in which a file is stored. Each part of a file is stored by one durable write, so large parts mean few writes. */
export const PART_BYTES = 1024 * 1024;
/** The longest address of a file. Some signed addresses have more than a thousand characters. */
export const FETCHED_URL_CHARACTERS_MAX = 2_048;
/**
 * D-147: the greatest size of a file in a request to the graph, because the server has such a file in memory. For a file that is larger than this
 * limit, callers send the file's address or use the control API.
 */
export const REQUEST_BYTES_MAX = 8 * 1024 * 1024;
/**
 * D-147: the greatest number of uploads of one feed that may wait to be read, because their files are stored until they are read. The control API
 * accepts any number of uploads.
 */
export const UPLOADS_WAITING_MAX = 20;
/** D-146: the greatest number of feeds of one catalog, because a catalog is deleted with all its feeds in one transaction. */
export const FEEDS_MAX = 1_000;
export const FEED_NAME_CHARACTERS_MAX = 200;
/** D-142: the number of finished uploads whose reports are kept for each feed. */
export const UPLOADS_KEPT_MAX = 100;
