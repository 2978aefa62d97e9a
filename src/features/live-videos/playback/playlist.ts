/** The HLS playlist of a recording (RFC 8216): growing while the video is live, and the same with an end as VOD. */
import { segmentFile } from "#recordings/folder";
import type { RecordedSession } from "#recordings/read-recording";

/**
 * Undefined: there is nothing to play yet. What was recorded before `fromRealMs` (the machine's time) was a preview; null: nothing was.
 * Addresses of segments are `{session}/{number}.ts`, relative to the playlist.
 */
export function playlistOf(sessions: readonly RecordedSession[], fromRealMs: number | null): string | undefined {
  const parts = sessions
    .map(({ segments, ...session }) => ({ ...session, segments: segments.filter(({ beganRealMs }) => beganRealMs >= (fromRealMs ?? 0)) }))
    .filter(({ segments }) => segments.length > 0);
  if (parts.length === 0) return undefined;
  let longestMs = 0;
  for (const { segments } of parts) for (const { durationMs } of segments) longestMs = Math.max(longestMs, durationMs);
  const lines = ["#EXTM3U", "#EXT-X-VERSION:3", `#EXT-X-TARGETDURATION:${Math.max(1, Math.ceil(longestMs / 1000))}`, "#EXT-X-PLAYLIST-TYPE:EVENT"];
  for (const [index, { session, segments }] of parts.entries()) {
    // Another encoder run: other times, perhaps another picture size.
    if (index > 0) lines.push("#EXT-X-DISCONTINUITY");
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(segments[0]?.beganRealMs ?? 0).toISOString()}`);
    for (const { number, durationMs } of segments) lines.push(`#EXTINF:${(durationMs / 1000).toFixed(3)},`, `${session}/${segmentFile(number)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Nothing more is recorded. */
export const withEnd = (playlist: string): string => `${playlist}#EXT-X-ENDLIST\n`;
