/** The limits of time and size of live videos, each with its source. Times are world time. */

/** LIM-8, D-51: how long an encoder can reconnect after its connection was lost. The document says 2 to 3 minutes. */
export const RECONNECT_WINDOW_MS = 150_000;
/** D-51: how long a new stream key can be requested after the old key has expired. */
export const NEW_KEY_WINDOW_MS = 600_000;
/** D-51: how long a video can be restored after it was taken down. */
export const RESTORE_NOTICE_MS = 7 * 86_400_000;
/** LIM-9, LIVE-28: viewers see a video about 4 to 5 seconds after its broadcast has started. */
export const START_DELAY_MS = 4_500;
/** D-111: how long after the planned time an unpublished broadcast expires. An expired stream key has the same time. */
export const START_MISSED_MS = 600_000;
/** D-112: the waits between attempts to seal a recording; the last wait repeats. */
export const SEALING_WAITS_MS = [5_000, 10_000, 30_000, 60_000, 300_000] as const;

/** The size of the secret of a stream key: 144 bits, because D-51 requires an address that cannot be guessed. */
export const STREAM_KEY_BYTES = 18;

/** D-113: the longest title of a live video. */
export const TITLE_CHARACTERS_MAX = 255;
/** D-113: the longest description of a live video. */
export const DESCRIPTION_CHARACTERS_MAX = 5_000;
/** D-113: the longest comment. */
export const COMMENT_CHARACTERS_MAX = 8_000;
/** D-113: the most pages that can share a video, because a read by another page checks each of them. */
export const CROSSPOSTED_PAGES_MAX = 50;
