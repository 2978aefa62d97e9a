/** The live state of a video, and what happens to it from outside the interface: encoders, sealing, takedowns, restorations. */
import { type Static, type TSchema, Type } from "typebox";
import { badRequest, conflict, notFound } from "#control-contract/errors";
import { EVENT_STREAM, wantsEvents, watchStream } from "#control-contract/event-stream";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { isNodeId, type NodeId } from "#kernel/ids";
import {
  findRefusalToWatch,
  readLiveState,
  readRunning,
  repeatNotice,
  setSealing,
  type TransitionResult,
  takeDown,
  transitionLiveVideo,
} from "./lifecycle/control-transitions.ts";
import { feedEnded, feedLost, feedStarted, noAudio } from "./lifecycle/feed.ts";
import { endReasons, type LiveEvent, states, statuses, type TakedownReason, takedownReasons } from "./lifecycle/states.ts";
import { DEFAULT_REASON } from "./lifecycle/transitions.ts";
import { countryOf } from "./viewing/countries.ts";
import { refusalsToWatch } from "./viewing/watching.ts";

const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

const health = Type.Object({
  bits_per_second: Type.Integer({ description: "averaged over 5 s" }),
  frames_per_second: Type.Number(),
  audio_bits_per_second: Type.Integer({ description: "some 2,000 are silence" }),
  audio_behind_ms: Type.Integer({ description: "by how much the newest sound is behind the newest picture" }),
  gaps: Type.Integer({ description: "how often pictures were missing for 250 ms or more" }),
  key_frame_ms: Type.Unsafe({ ...orNull(Type.Integer()), description: "between the last two key frames" }),
  width: Type.Integer({ description: "pixels" }),
  height: Type.Integer({ description: "pixels" }),
  warnings: Type.Array(Type.String(), { description: "what to change at the encoder" }),
});

export const liveState = Type.Object({
  id: Type.String(),
  page: Type.String(),
  state: Type.Unsafe({ ...oneOf(states), description: "a finer status: reconnecting, key_dead and ending show as LIVE" }),
  status: Type.Unsafe({ ...oneOf(statuses), description: "as the interface shows it" }),
  feed: Type.Object({
    is_sending: Type.Boolean({ description: "an encoder sends at the moment" }),
    session: Type.Integer({ description: "counts the feeds; 0: there was none" }),
  }),
  test_encoder: Type.Boolean({ description: "the encoder is the server's own, which sends a test clip" }),
  health: Type.Optional(Type.Unsafe({ ...health, description: "what the encoder sends, while this server takes its stream" })),
  stream_key: Type.Unsafe({ ...oneOf(["usable", "none"]), description: "whether an encoder can begin or come back" }),
  next: Type.Unsafe({
    ...orNull(Type.Object({ event: Type.String(), time: Type.Integer({ description: "Unix seconds" }) })),
    description: "what happens by itself next",
  }),
  sealing: Type.Object({ fails: Type.Boolean(), tries: Type.Integer({ description: "that failed" }) }),
  restore_notice: oneOf(["none", "open", "lapsed"]),
  takedown_reason: Type.Optional(Type.Unsafe({ ...oneOf(takedownReasons), description: "only of a video that was taken down" })),
  end_reason: Type.Optional(Type.Unsafe({ ...oneOf(endReasons), description: "only of a broadcast that nobody ended" })),
  history: Type.Array(
    Type.Object({
      time: Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" }),
      event: Type.String({ description: "what happened; declared: an operator set the state" }),
      state: Type.Unsafe({ ...oneOf(states), description: "the state after it" }),
    }),
    { description: "how it came to its state, the oldest first; the last 50" },
  ),
});

export function idOf({ path }: ControlRequest): NodeId {
  const id = path.id as string;
  if (!isNodeId(id)) throw missing(id);
  return id;
}

export const missing = (id: string) => notFound(`live video ${id}`);

/** The state, once the move is made. */
function stateAfter(id: NodeId, result: TransitionResult, what: string): unknown {
  if (result.is === "missing") throw missing(id);
  if (result.is === "refused") throw conflict(`a live video that is ${result.state.state} cannot be ${what}`);
  return result.state;
}

const transition = (event: LiveEvent, what: string) => async (request: ControlRequest) =>
  stateAfter(idOf(request), await transitionLiveVideo(request.world, idOf(request), event), what);

/** The health of a feed is as new. */
const LOOK_EVERY_MS = 1_000;

async function readState(request: ControlRequest): Promise<unknown> {
  const id = idOf(request);
  const state = await readLiveState(request.world, id);
  if (state === undefined) throw missing(id);
  if (!wantsEvents(request)) return state;
  return watchStream(request, { event: "state", everyMs: LOOK_EVERY_MS, look: () => readLiveState(request.world, id) });
}

/** As many as a person can watch over. */
const RUNNING_MAX = 100;

async function listRunning(request: ControlRequest): Promise<unknown> {
  const look = async () => ({ data: await readRunning(request.world, RUNNING_MAX), paging: {} });
  return wantsEvents(request) ? watchStream(request, { event: "live_videos", everyMs: LOOK_EVERY_MS, look }) : look();
}

const feedEvent = Type.Object(
  {
    event: Type.Union([Type.Literal("started"), Type.Literal("lost"), Type.Literal("ended"), Type.Literal("no_audio")], {
      description: "what the encoder does; the last three are about the feed that sends at the moment",
    }),
    stream_key: Type.Optional(Type.String({ description: "for `started`, as the encoder sends it; without it the key is not checked" })),
  },
  { additionalProperties: false },
);

/** What an encoder does, without an encoder. */
async function changeFeed(request: ControlRequest<unknown, Static<typeof feedEvent>>): Promise<unknown> {
  const { world, body } = request;
  const id = idOf(request as ControlRequest);
  const before = await readLiveState(world, id);
  if (before === undefined) throw missing(id);
  if (body.event === "started") {
    const hasStarted =
      body.stream_key === undefined
        ? (await transitionLiveVideo(world, id, "feed_started")).is === "done"
        : (await feedStarted(world, body.stream_key))?.video === id;
    if (!hasStarted) throw conflict(`the stream key opens nothing: the live video is ${before.state}`, "stream_key");
  } else {
    const report = { lost: feedLost, ended: feedEnded, no_audio: noAudio }[body.event];
    if ((await report(world, { video: id, session: before.feed.session })) === undefined) throw conflict("no encoder sends at the moment");
  }
  return readState(request as ControlRequest);
}

const sealing = Type.Object({ fails: Type.Boolean() }, { additionalProperties: false });

async function changeSealing(request: ControlRequest<unknown, Static<typeof sealing>>): Promise<unknown> {
  const id = idOf(request as ControlRequest);
  return stateAfter(id, await setSealing(request.world, id, request.body.fails), "sealed");
}

const takedownQuery = Type.Object({
  reason: Type.Optional(Type.Unsafe<TakedownReason>({ ...oneOf(takedownReasons), description: `${DEFAULT_REASON} when left out` })),
});

async function handleTakedown(request: ControlRequest<Static<typeof takedownQuery>>): Promise<unknown> {
  const id = idOf(request as ControlRequest);
  return stateAfter(id, await takeDown(request.world, id, request.query.reason ?? DEFAULT_REASON), "taken down");
}

/** The notice goes out with the takedown; sending it again does not give people more time (D-51). */
async function repeatRestoreNotice(request: ControlRequest): Promise<unknown> {
  const id = idOf(request);
  const result = await repeatNotice(request.world, id);
  if (result.is === "refused") throw conflict(`a live video that is ${result.state.state} has no open restore notice`);
  return stateAfter(id, result, "noticed");
}

const watchQuery = Type.Object({
  country: Type.Optional(Type.String({ description: "of the viewer, ISO 3166-1 alpha-2; unknown when left out" })),
  mobile_web: Type.Optional(Type.Boolean({ description: "in the browser of a phone or tablet" })),
});

const watchResponse = Type.Object({
  may_watch: Type.Boolean(),
  reason: Type.Optional(oneOf(refusalsToWatch)),
});

async function checkViewer(request: ControlRequest<Static<typeof watchQuery>>): Promise<unknown> {
  const id = idOf(request as ControlRequest);
  const { country, mobile_web: isMobileWeb = false } = request.query;
  const code = country === undefined ? undefined : countryOf(country);
  if (country !== undefined && code === undefined) throw badRequest("country is no country code of ISO 3166-1, such as DE", "country");
  const reason = await findRefusalToWatch(request.world, id, { country: code, isMobileWeb });
  if (reason === undefined) throw missing(id);
  return reason === null ? { may_watch: true } : { may_watch: false, reason };
}

const LIVE_VIDEOS = "/v1/worlds/{w}/live-videos";
export const LIVE_VIDEO = `${LIVE_VIDEOS}/{id}`;

export const liveVideoControlRoutes: readonly ControlRoute[] = [
  {
    method: "GET",
    path: LIVE_VIDEOS,
    operation: "listRunningLiveVideos",
    summary: `The live states of broadcasts that run, the newest first, ${RUNNING_MAX} at most; with Accept: text/event-stream, again whenever one changes, once a second at most`,
    response: listOf(liveState),
    streams: [EVENT_STREAM],
    errors: [404],
    handle: listRunning,
  },
  {
    method: "GET",
    path: `${LIVE_VIDEO}/ingest`,
    operation: "readLiveState",
    summary:
      "The live state of a video: its feed, its key, and what happens by itself next; with Accept: text/event-stream, again whenever it changes, once a second at most",
    response: liveState,
    streams: [EVENT_STREAM],
    errors: [404],
    handle: readState,
  },
  route({
    method: "POST",
    path: `${LIVE_VIDEO}/ingest`,
    operation: "tellOfFeed",
    summary: "Does what an encoder would do: begin, break off, stop, or send no audio. 409 where there is no such feed, or the key opens nothing",
    body: feedEvent,
    response: liveState,
    errors: [404, 409],
    handle: changeFeed,
  }),
  {
    method: "POST",
    path: `${LIVE_VIDEO}/publish`,
    operation: "publishLiveVideo",
    summary: "Publishes a live video that is unpublished or planned, as its page would: the broadcast begins. 409 in any other state",
    response: liveState,
    errors: [404, 409],
    handle: transition("published", "published"),
  },
  {
    method: "POST",
    path: `${LIVE_VIDEO}/end`,
    operation: "endBroadcast",
    summary: "Ends a broadcast, as its page would: its encoder is disconnected, and it becomes a VOD. 409 where none runs",
    response: liveState,
    errors: [404, 409],
    handle: transition("end_signalled", "ended"),
  },
  route({
    method: "PUT",
    path: `${LIVE_VIDEO}/sealing`,
    operation: "setSealing",
    summary: "Makes sealing fail on purpose, or work again; while it fails, a broadcast that was ended goes on showing as live",
    body: sealing,
    response: liveState,
    errors: [404],
    handle: changeSealing,
  }),
  route({
    method: "POST",
    path: `${LIVE_VIDEO}/takedown`,
    operation: "takeDownLiveVideo",
    summary: "Takes a live video or a VOD down, as for a copyright claim, and opens its restore notice of 7 days",
    query: takedownQuery,
    response: liveState,
    errors: [404, 409],
    handle: handleTakedown,
  }),
  {
    method: "POST",
    path: `${LIVE_VIDEO}/restore-notice`,
    operation: "repeatRestoreNotice",
    summary: "Sends the webhook of the open restore notice again; its time stays as it is. 409 where none is open",
    response: liveState,
    errors: [404, 409],
    handle: repeatRestoreNotice,
  },
  {
    method: "POST",
    path: `${LIVE_VIDEO}/restore`,
    operation: "restoreLiveVideo",
    summary: "Acts on the restore notice: the video is back as VOD. 409 where no notice is open",
    response: liveState,
    errors: [404, 409],
    handle: transition("restored", "restored"),
  },
  route({
    method: "GET",
    path: `${LIVE_VIDEO}/viewer`,
    operation: "checkViewer",
    summary: "Whether a viewer may watch a video, and if not, why",
    query: watchQuery,
    response: watchResponse,
    errors: [404],
    handle: checkViewer,
  }),
];
