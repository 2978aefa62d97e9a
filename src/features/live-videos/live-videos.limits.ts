/** The time limits and size limits of live videos, each with its source. The time limits are measured in world time. */

/**
 * LIM-8, D-51: the time in which an encoder can reconnect after its connection was lost. The interface's document gives an encoder 2 to 3 minutes to
 * reconnect.
 */
export const RECONNECT_WINDOW_MS = 150_000;
/** D-51: the time in which a new stream key can be requested after the old key has expired. */
export const NEW_KEY_WINDOW_MS = 600_000;
/** D-51: the time in which a video can be restored after it was taken down. */
export const RESTORE_NOTICE_MS = 7 * 86_400_000;
/** LIM-9, LIVE-28: viewers see a video about 4 to 5 seconds after its broadcast has started. */
export const START_DELAY_MS = 4_500;
/**
 * D-111: an unpublished broadcast expires 10 minutes after its planned start. The time in which a caller can request a new stream key is ten minutes,
 * too.
 */
export const START_MISSED_MS = 600_000;
/** D-112: the waits between attempts to seal a recording. After the last wait of the list, Plaza repeats this wait until sealing succeeds. */
export const SEALING_WAITS_MS = [5_000, 10_000, 30_000, 60_000, 300_000] as const;

/** The size of the secret of a stream key: 144 bits, because D-51 requires an address that cannot be guessed. */
export const STREAM_KEY_BYTES = 18;

/** D-113: the greatest length of a live video's title. */
export const TITLE_CHARACTERS_MAX = 255;
/** D-113: the greatest length of a live video's description. */
export const DESCRIPTION_CHARACTERS_MAX = 5_000;
/** D-113: the greatest length of a comment. */
export const COMMENT_CHARACTERS_MAX = 8_000;
/**
 * D-113: the greatest number of pages that can share a video. The number is limited, because each read by a page that shares the video checks all
 * pages that share it.
 */
export const CROSSPOSTED_PAGES_MAX = 50;
