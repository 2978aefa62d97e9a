import { defineSetting } from "#graph/contract/setting";
import { FILE_BYTES_MAX } from "./product-feeds.limits.ts";

/** D-147: callers cause the fetching of files, so an operator may allow less than what the server can read. */
export const feedFileBytesMax = defineSetting({
  name: "feed_file_bytes_max",
  value: "BYTES",
  minimum: 1_024,
  default: FILE_BYTES_MAX,
  summary: "bytes of a feed file as it is sent or fetched; a larger one fails",
});
