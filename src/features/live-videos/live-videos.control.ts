/**
 * The control routes and the alerts of live videos. The control routes read the states of videos, publish and end broadcasts, act as encoders, make
 * sealing fail, and take videos down or restore them.
 */

import { type Static, Type } from "typebox";
import { ALERTS_MAX, type Alert } from "#control-contract/alert";
import { conflict, notFound } from "#control-contract/errors";
import { EVENT_STREAM, wantsEvents, watchStream } from "#control-contract/event-stream";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { World } from "#graph/worlds/world";
import { isNodeId, type NodeId } from "#kernel/ids";
import { refusedVideos } from "./ingest/refusals.ts";
import { playTestClip, stopTestClip } from "./ingest/test-encoder.ts";
import { feedLost, feedStarted, noAudio } from "./lifecycle/feed.ts";
import {
  findRefusalToWatch,
  type LiveState,
  liveState,
  oneOf,
  readLiveState,
  readRunning,
  repeatNotice,
  setSealing,
  type TransitionResult,
  takeDown,
  transitionLiveVideo,
} from "./lifecycle/live-state.ts";
import { isLive, type LiveEvent, type TakedownReason, takedownReasons, takesFeed } from "./lifecycle/states.ts";
import { DEFAULT_REASON, hashOfKey, mintKey } from "./lifecycle/transitions.ts";
import { refusalsToWatch } from "./viewing/watching.ts";

function idOf({ path }: ControlRequest): NodeId {
  const id = path.id as string;
  if (!isNodeId(id)) throw missing(id);
  return id;
}

const missing = (id: string) => notFound(`live video ${id}`);

/** Returns the live state of a video after a change. Throws if the video is missing or the change was refused. */
function stateAfter(id: NodeId, result: TransitionResult, what: string): unknown {
  if (result.is === "missing") throw missing(id);
  if (result.is === "refused") throw conflict(`a live video that is ${result.state.state} cannot be ${what}`);
  return result.state;
}

const transition = (event: LiveEvent, what: string) => async (request: ControlRequest) =>
  stateAfter(idOf(request), await transitionLiveVideo(request.world, idOf(request), event), what);

/** The interval at which an event stream reads the state of a video: once a second, because feeds report their quality once a second. */
const LOOK_EVERY_MS = 1_000;

async function readState(request: ControlRequest): Promise<unknown> {
  const id = idOf(request);
  const state = await readLiveState(request.world, id);
  if (state === undefined) throw missing(id);
  if (!wantsEvents(request)) return state;
  return watchStream(request, { event: "state", everyMs: LOOK_EVERY_MS, look: () => readLiveState(request.world, id) });
}

/** The greatest number of broadcasts in the list of running broadcasts, because a person cannot watch over more than 100 broadcasts. */
const RUNNING_MAX = 100;

async function listRunning(request: ControlRequest): Promise<unknown> {
  const look = async () => ({ data: await readRunning(request.world, RUNNING_MAX), paging: {} });
  return wantsEvents(request) ? watchStream(request, { event: "live_videos", everyMs: LOOK_EVERY_MS, look }) : look();
}

const feedEvent = Type.Object(
  {
    event: Type.Union([Type.Literal("started"), Type.Literal("lost"), Type.Literal("ended"), Type.Literal("no_audio")], {
      description: "the action of the encoder; lost, ended and no_audio are about the current feed",
    }),
    stream_key: Type.Optional(Type.String({ description: "for `started`: the stream key that the encoder sends (default: no key is checked)" })),
  },
  { additionalProperties: false },
);

/** Changes the feed of a video as if an encoder connected, disconnected or sent no audio. */
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
    if (!hasStarted) throw conflict(`no encoder can connect with this stream key: the live video is ${before.state}`, "stream_key");
  } else {
    const report = { lost: feedLost, ended: feedLost, no_audio: noAudio }[body.event];
    if ((await report(world, { video: id, session: before.feed.session })) === undefined) throw conflict("no encoder is sending");
  }
  return readState(request as ControlRequest);
}

const sealing = Type.Object({ fails: Type.Boolean({ description: "whether sealing the recording fails" }) }, { additionalProperties: false });

async function changeSealing(request: ControlRequest<unknown, Static<typeof sealing>>): Promise<unknown> {
  const id = idOf(request as ControlRequest);
  return stateAfter(id, await setSealing(request.world, id, request.body.fails), "sealed");
}

const takedownQuery = Type.Object({
  reason: Type.Optional(
    Type.Unsafe<TakedownReason>({ ...oneOf(takedownReasons), description: `the reason for the takedown (default: ${DEFAULT_REASON})` }),
  ),
});

async function handleTakedown(request: ControlRequest<Static<typeof takedownQuery>>): Promise<unknown> {
  const id = idOf(request as ControlRequest);
  return stateAfter(id, await takeDown(request.world, id, request.query.reason ?? DEFAULT_REASON), "taken down");
}

/**
 * Sends the restore notice once more. The takedown has sent the first restore notice; a repeated notice does not give people more time to restore the
 * video (D-51).
 */
async function repeatRestoreNotice(request: ControlRequest): Promise<unknown> {
  const id = idOf(request);
  const result = await repeatNotice(request.world, id);
  if (result.is === "refused") throw conflict(`a live video that is ${result.state.state} has no open restore notice`);
  return stateAfter(id, result, "noticed");
}

const watchQuery = Type.Object({
  country: Type.Optional(Type.String({ format: "country", description: "the country of the viewer, ISO 3166-1 alpha-2; unknown by default" })),
  mobile_web: Type.Optional(Type.Boolean({ description: "whether the viewer uses the browser of a phone or tablet" })),
});

const watchResponse = Type.Object({
  may_watch: Type.Boolean(),
  reason: Type.Optional(oneOf(refusalsToWatch)),
});

async function checkViewer(request: ControlRequest<Static<typeof watchQuery>>): Promise<unknown> {
  const id = idOf(request as ControlRequest);
  const { country, mobile_web: isMobileWeb = false } = request.query;
  const reason = await findRefusalToWatch(request.world, id, { country, isMobileWeb });
  if (reason === undefined) throw missing(id);
  return reason === null ? { may_watch: true } : { may_watch: false, reason };
}

/**
 * The longest time that a request waits until the stream of the test encoder begins. The test clip begins with a key frame, so the feed usually
 * begins at once.
 */
const BEGINS_WITHIN_MS = 10_000;

/** D-119: starts the test encoder for a video. */
async function startTestEncoder(request: ControlRequest): Promise<unknown> {
  const { world, deps } = request;
  const id = idOf(request);
  const before = await readLiveState(world, id);
  if (before === undefined) throw missing(id);
  if (world.streaming === undefined) throw conflict("encoders cannot connect to this server: start the server with --rtmp-port");
  const { playClip } = world.streaming;
  if (playClip === undefined)
    throw conflict("a media server of your own receives the streams (--rtmp-url), and the test encoder can send only to this server");
  if (!takesFeed(before.state)) throw conflict(`no encoder can send to a live video that is ${before.state}`);
  if (before.feed.is_sending || before.test_encoder) throw conflict("an encoder sends already");
  const text = mintKey(world);
  const tooLate = deps.realTime.sleepMs(BEGINS_WITHIN_MS).then((): never => {
    throw new Error(`the stream of the test encoder did not begin within ${BEGINS_WITHIN_MS / 1_000} s`);
  });
  await playTestClip(world, id, { text, hash: hashOfKey(text) }, playClip, tooLate).catch((error: unknown) => {
    throw conflict(`the test encoder cannot send: ${error instanceof Error ? error.message : error}`);
  });
  return stateNow(request);
}

async function stopTestEncoder(request: ControlRequest): Promise<unknown> {
  const { world } = request;
  const id = idOf(request);
  const before = await readLiveState(world, id);
  if (before === undefined) throw missing(id);
  if (!stopTestClip(world, id)) throw conflict("the test encoder does not send to this live video");
  // Plaza marks the feed as lost at once and does not wait for the ingest process, which reports the loss a moment later.
  await feedLost(world, { video: id, session: before.feed.session });
  return stateNow(request);
}

async function stateNow(request: ControlRequest): Promise<unknown> {
  const state = await readLiveState(request.world, idOf(request));
  // Another request may have deleted the video a moment ago.
  if (state === undefined) throw missing(idOf(request));
  return state;
}

const LIVE_VIDEOS = "/v1/worlds/{w}/live-videos";
const LIVE_VIDEO = `${LIVE_VIDEOS}/{id}`;

export const liveVideoControlRoutes: readonly ControlRoute[] = [
  route(`GET ${LIVE_VIDEOS}`, "listRunningLiveVideos", {
    summary: `Lists the live states of running broadcasts, the newest first, at most ${RUNNING_MAX}; with Accept: text/event-stream, sends all of them again whenever a state changes, once a second at most`,
    response: listOf(liveState),
    streams: [EVENT_STREAM],
    handle: listRunning,
  }),
  route(`GET ${LIVE_VIDEO}/ingest`, "readLiveState", {
    summary:
      "Reads the live state of a video: its feed, its key, its next automatic event, its history; with Accept: text/event-stream, sends the state again whenever it changes, once a second at most",
    response: liveState,
    streams: [EVENT_STREAM],
    handle: readState,
  }),
  route(`POST ${LIVE_VIDEO}/ingest`, "actAsEncoder", {
    summary: "Acts as an encoder that begins, breaks off, stops, or sends no audio. 409 if no encoder is sending, or the key is unknown",
    body: feedEvent,
    response: liveState,
    errors: [409],
    handle: changeFeed,
  }),
  route(`POST ${LIVE_VIDEO}/publish`, "publishLiveVideo", {
    summary: "Publishes a live video that is unpublished or planned, as its page would: the broadcast begins. 409 in other states",
    response: liveState,
    errors: [409],
    handle: transition("published", "published"),
  }),
  route(`POST ${LIVE_VIDEO}/end`, "endBroadcast", {
    summary: "Ends a broadcast, as its page would: its encoder is disconnected, and the video becomes a VOD. 409 if the broadcast does not run",
    response: liveState,
    errors: [409],
    handle: transition("end_signalled", "ended"),
  }),
  route(`PUT ${LIVE_VIDEO}/sealing`, "setSealing", {
    summary:
      "Makes the sealing of the recording fail on purpose, or work again. While sealing fails, a broadcast that was ended still has the status LIVE",
    body: sealing,
    response: liveState,
    handle: changeSealing,
  }),
  route(`POST ${LIVE_VIDEO}/takedown`, "takeDownLiveVideo", {
    summary: "Takes a live video or a VOD down, as for a copyright claim, and opens its restore notice of 7 days",
    query: takedownQuery,
    response: liveState,
    errors: [409],
    handle: handleTakedown,
  }),
  route(`POST ${LIVE_VIDEO}/restore-notice`, "repeatRestoreNotice", {
    summary: "Sends the webhook of the open restore notice again, without more time. 409 if no notice is open",
    response: liveState,
    errors: [409],
    handle: repeatRestoreNotice,
  }),
  route(`POST ${LIVE_VIDEO}/restore`, "restoreLiveVideo", {
    summary: "Accepts the restore notice, so that the video is a VOD again. 409 if no notice is open",
    response: liveState,
    errors: [409],
    handle: transition("restored", "restored"),
  }),
  route(`GET ${LIVE_VIDEO}/viewer`, "checkViewer", {
    summary: "Says whether a viewer may watch a video, and if not, why",
    query: watchQuery,
    response: watchResponse,
    handle: checkViewer,
  }),
  route(`POST ${LIVE_VIDEO}/test-encoder`, "startTestEncoder", {
    summary:
      "Starts the test encoder, which sends a short clip with sound again and again, until it is stopped, the broadcast ends or another encoder replaces it. 409 if no encoder can send to the video, an encoder sends already, or encoders cannot connect",
    response: liveState,
    errors: [409],
    handle: startTestEncoder,
  }),
  route(`DELETE ${LIVE_VIDEO}/test-encoder`, "stopTestEncoder", {
    summary: "Stops the test encoder as if it broke off: the video waits for another encoder. 409 if the test encoder is not sending",
    response: liveState,
    errors: [409],
    handle: stopTestEncoder,
  }),
];

/** If another encoder sends, the refusal of an encoder is an alert only for 60 s, because the refused encoder may have given up. */
const REFUSED_ALERT_SECONDS = 60;

function alertOf({ state, feed, refused, health, sealing }: LiveState, now: number): Pick<Alert, "level" | "text"> | undefined {
  if (state === "key_dead")
    return {
      level: "error",
      text: "the encoder did not reconnect in time, so its stream key has expired; the broadcast ends unless a new key is created",
    };
  if (state === "ending" && sealing.tries > 0)
    return { level: "error", text: "the recording could not be sealed, so the video still has the status LIVE; Plaza tries again" };
  if (refused !== undefined && takesFeed(state) && (!feed.is_sending || now - refused.time < REFUSED_ALERT_SECONDS))
    return { level: isLive(state) && !feed.is_sending ? "error" : "warning", text: `an encoder was refused: ${refused.reason}` };
  if (state === "reconnecting") return { level: "warning", text: "the encoder has disconnected, and may reconnect with the same key" };
  const [warning] = health?.warnings ?? [];
  return warning === undefined ? undefined : { level: "warning", text: warning };
}

/** Returns alerts for broadcasts whose viewers miss pictures or sound, and for videos whose encoders were refused. */
export async function liveVideoAlerts(world: World): Promise<readonly Alert[]> {
  const now = world.clock.nowMs() / 1000;
  const running = await readRunning(world, ALERTS_MAX);
  const others = refusedVideos(world).filter((id) => !running.some((video) => video.id === id));
  const previews = await Promise.all(others.map((id) => readLiveState(world, id)));
  return [...running, ...previews.filter((state) => state !== undefined)].flatMap((video): Alert[] => {
    const found = alertOf(video, now);
    const time = video.history.at(-1)?.time;
    if (found === undefined) return [];
    const text = `Live video ${video.id} of page ${video.page}: ${found.text}.`;
    return [{ kind: "live_video", level: found.level, of: video.id, text, ...(time === undefined ? {} : { time }) }];
  });
}
