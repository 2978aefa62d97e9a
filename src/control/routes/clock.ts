/** The routes for the time of a world, which read, set, stop and move its clock. */
import { type Static, Type } from "typebox";
import { unprocessable } from "#control-contract/errors";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { moveUntil } from "#graph/worlds/clock";
import { worldTime } from "#graph/worlds/file/schema-words";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { World } from "#graph/worlds/world";
import { listWaitingJobs } from "#jobs/jobs.store";
import { UNIX_SECONDS_MAX, unixSeconds } from "#kernel/clock";
import { listNextRetries } from "#webhooks/callbacks/callbacks.store";

const withinMs = {
  within_ms: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        "the real time after which the move ends early, at the next time at which something is due; by default the clock moves to the requested time, however long the move takes",
    }),
  ),
};
const clockState = Type.Object({ now: Type.Integer({ description: "Unix seconds" }), frozen: Type.Boolean() });
const clockChange = Type.Object(
  {
    now: Type.Optional({ ...worldTime, description: "the new time: Unix seconds or ISO 8601" }),
    frozen: Type.Optional(Type.Boolean({ description: "whether the clock is stopped" })),
    ...withinMs,
  },
  { additionalProperties: false },
);
/** The longest time by which a clock can be moved: a hundred years. */
const ADVANCE_SECONDS_MAX = 100 * 366 * 86_400;
const advance = Type.Object({ seconds: Type.Number({ minimum: 0, maximum: ADVANCE_SECONDS_MAX }), ...withinMs }, { additionalProperties: false });

const stateOf = ({ clock }: OpenWorld): Static<typeof clockState> => ({ now: unixSeconds(clock), frozen: clock.isFrozen });

/** For each world, the last move of its clock. Moves of the same clock run one after another, so that two simultaneous advances add up. */
const turns = new WeakMap<OpenWorld, Promise<unknown>>();

function inTurn<T>(world: OpenWorld, move: () => Promise<T>): Promise<T> {
  const turn = (turns.get(world) ?? Promise.resolve()).then(move);
  turns.set(
    world,
    turn.catch(() => {}),
  );
  return turn;
}

/** D-266: moves a world's clock, and does all work that is due up to the returned time. The status is 202 if `within_ms` ended the move early. */
async function moveTo({ deps, world, body }: ControlRequest<unknown, Move>, ms: number, isFrozen = world.clock.isFrozen) {
  const { clock } = world;
  if (ms > UNIX_SECONDS_MAX * 1_000) throw unprocessable("the clock cannot move beyond the end of the year 9999", "seconds");
  const endMs = deps.realTime.monotonicMs() + (body.within_ms ?? Number.POSITIVE_INFINITY);
  const set = (atMs: number) => clock.set(atMs, isFrozen);
  // A move forward stops at the time of each due job or retry, so that further work that such a job or retry schedules is also done in time.
  if (ms > clock.nowMs()) await moveUntil(world.work, ms, set, () => deps.realTime.monotonicMs() >= endMs);
  else await set(ms);
  for (const settle of deps.onTimeMoved) await settle(world);
  return clock.nowMs() >= ms ? stateOf(world) : Response.json(stateOf(world), { status: 202 });
}

type Move = { readonly within_ms?: number };

const setClock = (request: ControlRequest<unknown, Static<typeof clockChange>>) =>
  inTurn(request.world, () => {
    const { now, frozen } = request.body;
    return moveTo(request, now === undefined ? request.world.clock.nowMs() : now * 1_000, frozen);
  });

const advanceClock = (request: ControlRequest<unknown, Static<typeof advance>>) =>
  inTurn(request.world, () => moveTo(request, request.world.clock.nowMs() + Math.round(request.body.seconds * 1_000)));

const UNFINISHED =
  "`within_ms` ended the move early: the response has the time that the clock reached. Send the same request again to go on (`advance`: with the seconds that are left).";

const CLOCK = "/v1/worlds/{w}/clock";

/** The greatest number of deadlines in a response, because a person does not read more. */
const DEADLINES_MAX = 100;

const deadline = Type.Object({
  time: Type.Number({ description: "world time in Unix seconds, with milliseconds as its fraction" }),
  kind: Type.String({ description: "the kind of a background job, or webhook_retry" }),
  of: Type.String({ description: "the id or key of the job, or the URL of the callback that gets the retry" }),
});

/** Lists the next deadlines of a world, the earliest first. */
export async function deadlinesOf({ database: { reader } }: World): Promise<readonly Static<typeof deadline>[]> {
  const jobs = await listWaitingJobs(reader, DEADLINES_MAX);
  const retries = await listNextRetries(reader, DEADLINES_MAX);
  const all = [
    ...jobs.map(({ kind, key, due_ms }) => ({ time: due_ms / 1000, kind, of: key })),
    ...retries.map(({ url, due_ms }) => ({ time: due_ms / 1000, kind: "webhook_retry", of: url })),
  ];
  return all.sort((a, b) => a.time - b.time).slice(0, DEADLINES_MAX);
}

export const clockRoutes: readonly ControlRoute[] = [
  route(`GET ${CLOCK}`, "readClock", {
    summary: "Reads the world's time",
    response: clockState,
    handle: async ({ world }) => stateOf(world),
  }),
  route(`PUT ${CLOCK}`, "setClock", {
    summary:
      "Sets the time, stops the clock or lets it run; a key that is left out stays the same. When the response is sent, everything that was due by the new time has happened",
    body: clockChange,
    response: clockState,
    unfinished: UNFINISHED,
    handle: setClock,
  }),
  route(`POST ${CLOCK}/advance`, "advanceClock", {
    summary: "Moves the time forward. When the response is sent, everything that was due by the new time has happened",
    body: advance,
    response: clockState,
    unfinished: UNFINISHED,
    errors: [422],
    handle: advanceClock,
  }),
  route("GET /v1/worlds/{w}/clock/deadlines", "listDeadlines", {
    summary: "Lists the next background jobs and the next retry of each callback, the earliest first; at most a hundred",
    response: listOf(deadline),
    handle: async ({ world }) => ({ data: await deadlinesOf(world), paging: {} }),
  }),
];
