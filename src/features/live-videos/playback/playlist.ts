/** The HLS playlist of a recording (RFC 8216): growing while the video is live, and the same with an end as VOD. */
import { HEAD, segmentFile } from "#recordings/folder";
import type { RecordedSession } from "#recordings/read-recording";

/**
 * Undefined: there is nothing to play yet. What was recorded before `fromRealMs` (the machine's time) was a preview; null: nothing was.
 * Addresses of segments are `{session}/{number}.ts` or `.mp4`, relative to the playlist.
 */
export function playlistOf(sessions: readonly RecordedSession[], fromRealMs: number | null): string | undefined {
  const parts = sessions
    .map(({ segments, ...session }) => ({ ...session, segments: segments.filter(({ beganRealMs }) => beganRealMs >= (fromRealMs ?? 0)) }))
    .filter(({ segments }) => segments.length > 0);
  if (parts.length === 0) return undefined;
  let longestMs = 0;
  for (const { segments } of parts) for (const { durationMs } of segments) longestMs = Math.max(longestMs, durationMs);
  // Section 7: EXT-X-MAP needs version 6.
  const version = parts.some(({ form }) => form === "mp4") ? 6 : 3;
  const lines = [
    "#EXTM3U",
    `#EXT-X-VERSION:${version}`,
    `#EXT-X-TARGETDURATION:${Math.max(1, Math.ceil(longestMs / 1000))}`,
    "#EXT-X-PLAYLIST-TYPE:EVENT",
  ];
  for (const [index, { session, form, segments }] of parts.entries()) {
    // Another encoder run: other times, perhaps another picture size.
    if (index > 0) lines.push("#EXT-X-DISCONTINUITY");
    if (form === "mp4") lines.push(`#EXT-X-MAP:URI="${session}/${HEAD}"`);
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(segments[0]?.beganRealMs ?? 0).toISOString()}`);
    for (const { number, durationMs } of segments)
      lines.push(`#EXTINF:${(durationMs / 1000).toFixed(3)},`, `${session}/${segmentFile(number, form)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Nothing more is recorded. */
export const withEnd = (playlist: string): string => `${playlist}#EXT-X-ENDLIST\n`;
