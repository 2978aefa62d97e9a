/**
 * Control routes for an operator's own media server (D-115). Like an ingest process, the media server asks whether a stream key is valid, and reports
 * what the encoder with this key does.
 */
import { type Static, Type } from "typebox";
import { badRequest, ControlError, conflict, notFound } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { entryReader } from "#graph/worlds/file/entry-reader";
import type { World } from "#graph/worlds/world";
import { nodeId } from "#kernel/ids";
import { feedLost, feedStarted, findFeedByKey, isStreamKey, noAudio, noStorage } from "../lifecycle/feed.ts";
import { liveState, readLiveState } from "../lifecycle/live-state.ts";
import { hashOfKey } from "../lifecycle/transitions.ts";
import { findVideoById, type LiveVideoRow } from "../live-videos.store.ts";
import { DEAD_AFTER_MS, deleteIngest, findFeedsOf, findIngest, saveIngest } from "./ingests.store.ts";
import { feedRefused } from "./refusals.ts";

const kinds = ["check", "started", "lost", "ended", "no_audio", "no_storage", "refused"] as const;

const feedReport = Type.Object(
  {
    event: Type.Unsafe<(typeof kinds)[number]>({
      enum: [...kinds],
      description: "check asks whether an encoder may publish with the key, and changes nothing; the other events report that something has happened",
    }),
    stream_key: Type.String({ minLength: 1, maxLength: 256, description: "the stream key that the encoder sends" }),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "for `refused`: the defect of the encoder's stream, in words for the people who can correct it",
      }),
    ),
    session: Type.Optional(
      Type.Integer({ minimum: 1, description: "the number of the feed that ended, as `started` returned it (default: the current feed)" }),
    ),
  },
  { additionalProperties: false },
);

const reports = { lost: feedLost, ended: feedLost, no_audio: noAudio, no_storage: noStorage } as const;

const OF_MEDIA_SERVERS = "media server ";
/**
 * D-308: the hash of the stream key is stored with a media server's feed, so that a report with a replaced key finds the feed that began with this
 * key.
 */
const ingestsOf = (key: string): string => `${OF_MEDIA_SERVERS}${hashOfKey(key)} `;
const ingestOf = (key: string, source = ""): string => `${ingestsOf(key)}${source}`;

/** Returns whether a media server sends to the video with a stream key other than `key`. */
const isOfOtherKey = ({ has_feed, feed_ingest }: LiveVideoRow, key: string): boolean =>
  has_feed === 1 && feed_ingest?.startsWith(OF_MEDIA_SERVERS) === true && !feed_ingest.startsWith(ingestsOf(key));

/**
 * Returns the video whose running feed began with this stream key, even if the key was replaced later. If no running feed began with the key, returns
 * the video that has the key now.
 */
async function findFeedOf(world: World, key: string, source?: string): Promise<LiveVideoRow | undefined> {
  const { reader } = world.database;
  const [feed] = await findFeedsOf(reader, ingestOf(key, source));
  return feed === undefined ? findFeedByKey(world, key) : findVideoById(reader, feed.video);
}

async function takeReport({ world, body }: ControlRequest<unknown, Static<typeof feedReport>>): Promise<unknown> {
  const { event, stream_key } = body;
  const isOfRunning = event !== "check" && event !== "started" && event !== "refused";
  const row = await (isOfRunning ? findFeedOf(world, stream_key) : findFeedByKey(world, stream_key));
  if (row === undefined) throw notFound("live video with this stream key");
  const video = nodeId(row.id);
  if (event === "started") {
    const feed = await feedStarted(world, stream_key, { ingest: ingestOf(stream_key) });
    if (feed === undefined) throw notFound("live video with this stream key");
  } else if (event === "refused") {
    if (body.reason === undefined) throw badRequest("reason is required for the event refused", "reason");
    await feedRefused(world, video, body.reason);
  } else if (event !== "check") {
    if (isOfOtherKey(row, stream_key)) throw conflict("this feed is not sending");
    if ((await reports[event](world, { video, session: body.session ?? row.feed_session })) === undefined) throw conflict("this feed is not sending");
  }
  const state = await readLiveState(world, video);
  // The video may have been deleted after the event was applied.
  if (state === undefined) throw notFound("live video with this stream key");
  return state;
}

/**
 * The values of `call` in a request of nginx's RTMP module. In requests of nginx's RTMP module, `name` is the stream key; some media servers send a
 * path that ends with the stream key.
 */
const callbacks = ["publish", "update", "update_publish", "publish_done"] as const;

const text = Type.String({ minLength: 1 });
const callbackForm = Type.Object({
  call: Type.Union(callbacks.map((name) => Type.Literal(name))),
  name: { ...text, description: "the stream key, or a path that ends with the stream key" },
  clientid: Type.Optional(Type.String({ description: "an id that distinguishes encoders" })),
});
/** The JSON body of a request of MediaMTX. Plaza refuses all values of `action` except `publish`. */
const callbackJson = Type.Object({ action: text, path: { ...text, description: "a path that ends with the stream key" } });

/**
 * The longest silence of a media server that reports regularly. A media server that reports regularly reports every 30 s, and after three missed
 * reports its feed counts as lost.
 */
const SILENT_MS_MAX = 90_000;

/**
 * D-118: handles a request of a media server that can only call an address. The request of such a media server says that an encoder sends, or wants
 * to send. `source` is the name that the media server gives to the encoder's connection. If `isRepeated`, the media server reports regularly, so a
 * missing report means that the feed is lost. Returns whether the encoder may send.
 */
export async function sourceSends(world: World, key: string, source: string, isRepeated: boolean): Promise<boolean> {
  const { database, realNowMs } = world;
  const ingest = ingestOf(key, source);
  const row = await findFeedOf(world, key, source);
  if (row === undefined) return false;
  const isOwn = row.has_feed === 1 && row.feed_ingest === ingest;
  if (row.has_feed === 1 && !isOwn && row.feed_ingest !== null && !isOfOtherKey(row, key)) {
    // The new connection may replace a connection whose media server has stopped reporting, or a connection with an older key.
    const other = await findIngest(database.reader, row.feed_ingest);
    if (other !== undefined && other.seen_ms >= realNowMs() - DEAD_AFTER_MS) return false;
  }
  if (!isOwn && (await feedStarted(world, key, { ingest })) === undefined) return false;
  if (isRepeated) await database.write((tx) => saveIngest(tx, ingest, realNowMs() + SILENT_MS_MAX - DEAD_AFTER_MS));
  return true;
}

/** Ends the feed of an encoder's connection that has stopped sending. If the video's feed belongs to another connection, the feed continues. */
async function sourceEnded(world: World, key: string, source: string): Promise<void> {
  const row = await findFeedOf(world, key, source);
  if (row?.has_feed !== 1 || row.feed_ingest !== ingestOf(key, source)) return;
  await feedLost(world, { video: nodeId(row.id), session: row.feed_session });
  // Only a media server that reports regularly has a row in the table of ingest processes.
  await world.database.write((tx) => deleteIngest(tx, ingestOf(key, source)));
}

/** A request of a media server after parsing. `key` is the stream key in the request. */
interface Call {
  readonly key: string;
  /** Handles the request for a stream key. Returns whether the encoder may send. */
  take(world: World, key: string): Promise<boolean>;
}

/**
 * Handles a request of a media server. The stream key is the secret of the request, so a caller without a valid key gets no information and cannot
 * change a feed.
 */
async function takeCallback({ deps, path, body, isNoWorld, world }: ControlRequest<unknown, string>): Promise<unknown> {
  const { key, take } = body.startsWith("{") ? questionOf(body) : formOf(new URLSearchParams(body));
  const held = isNoWorld ? await deps.worlds.holdIf(path.w as string, (reader) => isStreamKey(reader, key)) : undefined;
  try {
    // No valid stream key contains U+0000, so Plaza always refuses this key. If the key had no U+0000, a request for a world that does not exist
    // could use a key of the first world.
    const isAllowed = await take(held?.world ?? world, isNoWorld && held === undefined ? `${key}\0` : key);
    if (!isAllowed) throw new ControlError("forbidden", "the stream key is unknown, or another encoder uses it");
    return { accepted: true };
  } finally {
    held?.leave();
  }
}

/** Reads a request of MediaMTX, such as `{"action": "publish", "path": "live/KEY", …}`. */
function questionOf(text: string): Call {
  let asked: unknown;
  try {
    asked = JSON.parse(text);
  } catch {
    throw badRequest("the body is not valid JSON");
  }
  const { action, path } = (asked ?? {}) as { action?: unknown; path?: unknown };
  if (typeof path !== "string") throw badRequest("path must be text that ends with the stream key", "path");
  return { key: keyIn(path), take: async (world, key) => action === "publish" && (await findFeedByKey(world, key)) !== undefined };
}

function formOf(form: URLSearchParams): Call {
  const given = Object.keys(callbackForm.properties).map((field) => [field, form.get(field)?.slice(0, FIELD_CHARACTERS_MAX)]);
  const { call, name, clientid = "" } = entryReader(callbackForm)(Object.fromEntries(given)) as Static<typeof callbackForm>;
  const take = async (world: World, key: string): Promise<boolean> => {
    if (call !== "publish_done") return sourceSends(world, key, clientid, call !== "publish");
    await sourceEnded(world, key, clientid);
    return true;
  };
  return { key: keyIn(name), take };
}

/** The greatest length of a form value that is read: enough for a path with the name of an application and a key of 256 characters. */
const FIELD_CHARACTERS_MAX = 512;

const keyIn = (path: string): string => (path.split("?", 1)[0] as string).split("/").at(-1) as string;

export const feedControlRoutes: readonly ControlRoute[] = [
  route("POST /v1/worlds/{w}/live-feeds", "reportFeed", {
    summary:
      "Lets a media server of your own ask whether an encoder may publish with a key, and report the events of the encoder's feed. The status is 404 if the key is unknown, and 409 if the feed is not the current one",
    body: feedReport,
    response: liveState,
    errors: [409],
    handle: takeReport,
  }),
  route("POST /v1/worlds/{w}/live-feeds/callback", "takeFeedCallback", {
    summary:
      "Receives the requests of a media server that can only send requests to an address, such as nginx with its RTMP module (call, name and clientid as a form) or MediaMTX (its authentication as JSON). The stream key is the secret, so no control key is needed; the status is 403 if the encoder has to be refused",
    body: "form",
    content: { "application/x-www-form-urlencoded": callbackForm, "application/json": callbackJson },
    needsNoKey: true,
    response: Type.Object({ accepted: Type.Literal(true) }),
    handle: takeCallback as ControlRoute["handle"],
  }),
];
