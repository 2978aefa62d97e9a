/** Where an operator's own media server asks and reports, as the ingest process does: by the key that an encoder sent (D-115). */
import { type Static, Type } from "typebox";
import { conflict, notFound } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { nodeId } from "#kernel/ids";
import { readLiveState } from "../lifecycle/control-transitions.ts";
import { feedEnded, feedLost, feedStarted, findFeedByKey, noAudio, noStorage } from "../lifecycle/feed.ts";
import { liveState } from "../live-videos.control.ts";

const kinds = ["check", "started", "lost", "ended", "no_audio", "no_storage"] as const;

const feedReport = Type.Object(
  {
    event: Type.Unsafe<(typeof kinds)[number]>({
      enum: [...kinds],
      description: "check: may an encoder publish with the key? Nothing changes. The others say what has happened",
    }),
    stream_key: Type.String({ minLength: 1, maxLength: 256, description: "as the encoder sends it" }),
    session: Type.Optional(Type.Integer({ minimum: 1, description: "the feed that ended, as `started` returned it; the present one when left out" })),
  },
  { additionalProperties: false },
);

const reports = { lost: feedLost, ended: feedEnded, no_audio: noAudio, no_storage: noStorage } as const;

async function takeReport({ world, body }: ControlRequest<unknown, Static<typeof feedReport>>): Promise<unknown> {
  const { event, stream_key } = body;
  const row = await findFeedByKey(world, stream_key);
  if (row === undefined) throw notFound("live video that the stream key opens");
  const video = nodeId(row.id);
  if (event === "started") {
    if ((await feedStarted(world, stream_key)) === undefined) throw notFound("live video that the stream key opens");
  } else if (event !== "check") {
    if ((await reports[event](world, { video, session: body.session ?? row.feed_session })) === undefined)
      throw conflict("no such feed sends at the moment");
  }
  const state = await readLiveState(world, video);
  // It was deleted at this moment.
  if (state === undefined) throw notFound("live video that the stream key opens");
  return state;
}

export const feedControlRoutes: readonly ControlRoute[] = [
  route({
    method: "POST",
    path: "/v1/worlds/{w}/live-feeds",
    operation: "reportFeed",
    summary:
      "For a media server of one's own: whether an encoder may publish with a key, and what its feed does. 404 where the key opens nothing, 409 where the feed is no longer the present one",
    body: feedReport,
    response: liveState,
    errors: [404, 409],
    handle: takeReport,
  }),
];
