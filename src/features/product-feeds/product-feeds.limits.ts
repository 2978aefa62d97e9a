/** Limits of feed files: everything whose size a file determines has one. */

/** The size of one row. Most of it may be in columns that items do not have, such as pages of HTML. A reader has one row in memory. */
export const ROW_CHARACTERS_MAX = 1_048_576;
/** The part of a value that a reader keeps: more than any field accepts, so that the field's own rule refuses a longer value. */
export const VALUE_CHARACTERS_MAX = 65_536;
/**
 * Characters of a CSV file that may be read again after rows with wrong quotes. Beyond it a row has one line. A file
 * in which each line opens a quote would otherwise be read a million times over.
 */
export const RESCANNED_CHARACTERS_MAX = 16 * 1_048_576;
/** Some 1.7 GB in the database. A larger shop must split its feed. */
export const ROWS_MAX = 5_000_000;
/** The size of the file as it is sent: five million ordinary rows, or many more if it is compressed. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024 * 1024;
/** The size of the unpacked file. gzip compresses text to about a tenth. */
export const UNPACKED_BYTES_MAX = 16 * 1024 * 1024 * 1024;
/** D-314: gzip compresses nothing to less than a thousandth, and real feeds to a fiftieth at most. */
export const UNPACKED_RATIO_MAX = 200;
/** D-314: below it the ratio does not count, because small files of equal rows are honest. */
export const UNPACKED_FREELY_BYTES = 16 * 1024 * 1024;
/** D-314: processes that end while they read one upload; a shortage of memory on the machine may end one or two of an honest file. */
export const READERS_MAX = 3;
/** D-314: runs of one upload. A system that is short of memory may end the server together with a reader; restarts of an honest day are fewer. */
export const RUNS_MAX = 20;
/** D-141: bad rows that a report contains. All are counted; a systematic error shows in the first hundred. */
export const BAD_ROWS_KEPT_MAX = 100;

/** Text passed to a parser at once: some 150 rows. */
export const PIECE_CHARACTERS = 32_768;
/** Rows of one write. It blocks other writes for some 8 ms, and the cost of the commit is negligible. */
export const ROWS_PER_WRITE = 2_000;
/** Size of the parts in which a file is stored. Each is one durable write, so a file has few of them. */
export const PART_BYTES = 1024 * 1024;
/** The length of a file's address. Some signed addresses have more than a thousand characters. */
export const FETCHED_URL_CHARACTERS_MAX = 2_048;
/** D-147: of a file in a request of the graph, which is in memory. Larger files come by their address or through the control API. */
export const REQUEST_BYTES_MAX = 8 * 1024 * 1024;
/** D-147: uploads of one feed that are not read yet, because their files are stored until then. The control API has no such limit. */
export const UPLOADS_WAITING_MAX = 20;
/** D-146: of one catalog, which is deleted with all its feeds in one transaction. */
export const FEEDS_MAX = 1_000;
export const FEED_NAME_CHARACTERS_MAX = 200;
/** D-142: reports of finished uploads that are kept for each feed. */
export const UPLOADS_KEPT_MAX = 100;
