/** The server's own encoder, started and stopped for a video (D-119). */
import { conflict } from "#control-contract/errors";
import type { ControlRequest, ControlRoute } from "#control-contract/route";
import { readLiveState } from "../lifecycle/control-transitions.ts";
import { feedLost } from "../lifecycle/feed.ts";
import { takesFeed } from "../lifecycle/states.ts";
import { hashOfKey, mintKey } from "../lifecycle/transitions.ts";
import { idOf, LIVE_VIDEO, liveState, missing } from "../live-videos.control.ts";
import { playTestClip, stopTestClip } from "./test-encoder.ts";

/** The first key frame comes with the first bytes. */
const BEGINS_WITHIN_MS = 10_000;

async function startTestEncoder(request: ControlRequest): Promise<unknown> {
  const { world, deps } = request;
  const id = idOf(request);
  const before = await readLiveState(world, id);
  if (before === undefined) throw missing(id);
  if (world.streaming === undefined) throw conflict("encoders cannot connect to this server: start it with --rtmp-port");
  const { playClip } = world.streaming;
  if (playClip === undefined)
    throw conflict("a media server of your own takes the streams (--rtmp-url), and the test encoder sends to this server alone");
  if (!takesFeed(before.state)) throw conflict(`a live video that is ${before.state} takes no stream`);
  if (before.feed.is_sending || before.test_encoder) throw conflict("an encoder sends already");
  const text = mintKey(world);
  const tooLate = deps.realTime.sleepMs(BEGINS_WITHIN_MS).then((): never => {
    throw new Error(`its stream did not begin within ${BEGINS_WITHIN_MS / 1_000} s`);
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
  // The ingest process says so a moment later.
  await feedLost(world, { video: id, session: before.feed.session });
  return stateNow(request);
}

async function stateNow(request: ControlRequest): Promise<unknown> {
  const state = await readLiveState(request.world, idOf(request));
  // It was deleted at this moment.
  if (state === undefined) throw missing(idOf(request));
  return state;
}

export const testEncoderControlRoutes: readonly ControlRoute[] = [
  {
    method: "POST",
    path: `${LIVE_VIDEO}/test-encoder`,
    operation: "startTestEncoder",
    summary:
      "Has the server's own encoder send a short clip with sound, again and again, until it is stopped, the broadcast ends or an encoder takes its place. 409 where the video takes no stream, an encoder sends already, or encoders cannot connect",
    response: liveState,
    errors: [404, 409],
    handle: startTestEncoder,
  },
  {
    method: "DELETE",
    path: `${LIVE_VIDEO}/test-encoder`,
    operation: "stopTestEncoder",
    summary: "Stops the test encoder, as an encoder that breaks off: the video waits for another one. 409 where it does not send",
    response: liveState,
    errors: [404, 409],
    handle: stopTestEncoder,
  },
];
