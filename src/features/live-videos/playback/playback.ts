/**
 * Serves the player's page, playlists and segments to players. Each request, even for a single segment, is checked against the current state of the
 * video, so that a takedown, a deletion or a change of the countries takes effect at once.
 *
 * **Invariant:** a segment is sent only to a request with a ticket. The player's page contains a ticket if the viewer may watch the video now, or
 * when the video starts.
 */
import type { World } from "#graph/worlds/world";
import { isNodeId, nodeId } from "#kernel/ids";
import { sessionFolder } from "#recordings/recording-space";
import { type RecordingStore, storeAt } from "#recordings/recording-store";
import { SealBroken } from "#storage/sealing";
import { isLive } from "../lifecycle/states.ts";
import { findVideoById, type LiveVideoRow } from "../live-videos.store.ts";
import { type RefusalToWatch, refusalToWatch, type Viewer } from "../viewing/watching.ts";
import { type KeptPlaylist, readKeptPlaylist, withEnd } from "./playlist.ts";

/**
 * The reason why a player's request is refused. `missing`: the video does not exist, is not embeddable, is not published, or was taken down. The
 * viewer must not learn why the video counts as missing.
 */
export type PlaybackRefusal = "missing" | Extract<RefusalToWatch, "not_in_this_country" | "starting" | "not_on_mobile_web_until_vod">;

export interface PlayerView {
  readonly title: string | null;
  readonly ticket: string;
}

/**
 * The time for which a ticket is valid, which is enough for a long broadcast with pauses. The player's page gets a new ticket each time the page is
 * loaded.
 */
const TICKET_MS = 12 * 3_600_000;
/**
 * The ingest process writes the last segment of a recording a second or two after the end of the broadcast. If the recording has not grown for more
 * than 10 s, Plaza assumes that the ingest process was killed.
 */
const WRITTEN_WITHIN_MS = 10_000;
/**
 * If the last segment is not written yet, Plaza looks for the segment every 100 ms, at most 30 times. A player therefore waits at most 3 s for the
 * last segment.
 */
const LOOK_EVERY_MS = 100;
const LOOKS_MAX = 30;

/** The name of a segment in a playlist: `{session}/{number}.ts`. */
const SEGMENT = /^(\d{1,15})\/(\d{1,9}\.ts)$/;

interface Ticket {
  readonly video: string;
  readonly country: string | null;
  readonly until_ms: number;
}

/** Returns the contents of the player's page. A video that starts soon also has a player's page, because the page waits for the start. */
export async function openPlayer(world: World, id: string, viewer: Viewer): Promise<PlayerView | PlaybackRefusal> {
  const found = await findShown(world, id, viewer);
  if (typeof found === "string" && found !== "starting") return found;
  const ticket: Ticket = { video: id, country: viewer.country ?? null, until_ms: world.realNowMs() + TICKET_MS };
  return { title: typeof found === "string" ? null : found.title, ticket: world.sealer.seal(JSON.stringify(ticket)) };
}

/** Returns the playlist of a video. Returns `starting` instead of a playlist if the video starts soon, or if nothing is recorded yet. */
export async function readPlaylist(
  world: World,
  id: string,
  sealed: string,
  viewer: Viewer,
  sleepMs: (ms: number) => Promise<void>,
): Promise<{ playlist: string } | PlaybackRefusal> {
  const row = await findWithTicket(world, id, sealed, viewer);
  if (typeof row === "string") return row;
  if (world.recordings === undefined) return "starting";
  const read = () => readKeptPlaylist(world, world.recordings as string, id, row.published_real_ms);
  let kept = await read();
  if (!isLive(row.state)) kept = await whenWritten(world, kept, read, sleepMs);
  if (kept.playlist === undefined) return "starting";
  return { playlist: isLive(row.state) ? kept.playlist : withEnd(kept.playlist) };
}

/**
 * Waits until the last segment of an ended broadcast is written, because the playlist must contain the broadcast to its end (D-296). The ingest
 * process writes the last segment a moment after the end of the broadcast. If the ingest process was killed, the last segment is never written, so a
 * request does not wait for the last segment of an old recording.
 */
async function whenWritten(
  world: World,
  first: KeptPlaylist,
  read: () => Promise<KeptPlaylist>,
  sleepMs: (ms: number) => Promise<void>,
): Promise<KeptPlaylist> {
  let kept = first;
  const isWritten = (): boolean => kept.openUntilRealMs === undefined || kept.openUntilRealMs + WRITTEN_WITHIN_MS < world.realNowMs();
  for (let looks = 0; looks < LOOKS_MAX && !isWritten(); looks++) {
    await sleepMs(LOOK_EVERY_MS);
    kept = await read();
  }
  return kept;
}

/** Opens a segment. `name` is the segment's name in the playlist: `{session}/{number}.ts`. */
export async function findSegment(
  world: World,
  id: string,
  sealed: string,
  name: string,
  viewer: Viewer,
): Promise<Exclude<Awaited<ReturnType<RecordingStore["open"]>>, undefined> | PlaybackRefusal> {
  const [, session, file] = SEGMENT.exec(name) ?? [];
  if (session === undefined || file === undefined || world.recordings === undefined) return "missing";
  const row = await findWithTicket(world, id, sealed, viewer);
  if (typeof row === "string") return row;
  // A missing segment is an error, because players ask only for segments that exist.
  return (await storeAt(world.recordings).open(`${sessionFolder(world.name, id, Number(session))}/${file}`)) ?? "missing";
}

async function findShown(world: World, id: string, viewer: Viewer): Promise<LiveVideoRow | PlaybackRefusal> {
  const row = isNodeId(id) ? await findVideoById(world.database.reader, nodeId(id)) : undefined;
  // LIVE-5: the player shows a video only if embedding is enabled.
  if (row === undefined || row.embeddable === 0) return "missing";
  const refusal = refusalToWatch(row, viewer, world.clock.nowMs());
  if (refusal === "not_shown" || refusal === "not_published") return "missing";
  return refusal ?? row;
}

/**
 * Finds the video for which a ticket is valid. If the request does not contain the viewer's country, the country comes from the ticket, which has the
 * country from the request for the player's page.
 */
async function findWithTicket(world: World, id: string, sealed: string, viewer: Viewer): Promise<LiveVideoRow | PlaybackRefusal> {
  const ticket = openTicket(world, sealed);
  if (ticket === undefined || ticket.video !== id || ticket.until_ms < world.realNowMs()) return "missing";
  return findShown(world, id, { ...viewer, country: viewer.country ?? ticket.country ?? undefined });
}

function openTicket(world: World, sealed: string): Ticket | undefined {
  try {
    return JSON.parse(world.sealer.open(sealed)) as Ticket;
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
