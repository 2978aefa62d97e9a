/** Bounds of feed files. A limit stands on everything that a file decides. */

/** The longest item that is allowed has some 20,000 characters; escaped twice it is still shorter than this. */
export const ROW_CHARACTERS_MAX = 65_536;
/** Some 1.7 GB in the database; a larger shop splits its feed. */
export const ROWS_MAX = 5_000_000;
/** As it is sent: five million rows of usual length, or far more of them compressed. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024 * 1024;
/** Once unpacked: gzip makes text a tenth, and a file that unpacks to a thousand times its size is an attack. */
export const UNPACKED_BYTES_MAX = 16 * 1024 * 1024 * 1024;
/** Bad rows that are kept with line and reason; all are counted. What is wrong throughout shows in the first hundred. */
export const BAD_ROWS_KEPT_MAX = 100;
/** Columns of a CSV or TSV file; the fields have 23 names, and exports of shop systems some 200. */
export const COLUMNS_MAX = 1_000;

/** Text handed to a parser at once: some 150 rows, about a millisecond of the event loop. */
export const PIECE_CHARACTERS = 32_768;
/** Rows of one write: some 8 ms in which no other write runs, and so many rows that the commit hardly counts. */
export const ROWS_PER_WRITE = 2_000;
/** Parts in which a file is kept: one durable write each, and few of them. */
export const PART_BYTES = 1024 * 1024;
/** Finished uploads whose reports are kept, for each feed. */
export const UPLOADS_KEPT_MAX = 100;
