/**
 * Claims deliveries: decides which deliveries are sent next, and which of these deliveries share a POST. A claim is one transaction, which runs again
 * if it was rolled back.
 */
import type { Transaction } from "#storage/database";
import { takeProbe } from "../callbacks/callbacks.store.ts";
import { PROBE_EVERY_MS } from "../callbacks/health.ts";
import type { FieldCatalogue } from "../catalogue/catalogue.ts";
import { NO_ATTEMPTS } from "./attempts.ts";
import {
  type ClaimedRow,
  claimFirsts,
  claimRetries,
  type EventRow,
  findDueRetries,
  findFirsts,
  findFollowers,
  findFreeHeads,
  findMembers,
  findNextRetryTime,
  findSending,
  giveBackClaimed,
  joinMembers,
  lockFirsts,
  lockRetries,
  lockWaiting,
  type WaitingRow,
} from "./deliveries.store.ts";

/** A queue's request to claim deliveries in this turn, with the number of deliveries that it may claim. */
export interface ClaimRequest {
  /** The queue that makes the request, by the id of its callback. */
  readonly queue: string;
  readonly firsts: number;
  readonly retries: number;
  /**
   * The entities whose first attempts this process is making. The other first attempts of these entities wait. The set of entities changes while the
   * claim runs.
   */
  readonly busy: ReadonlySet<string>;
  /** The entity at which the last search for deliveries of this queue ended. */
  readonly fromEntity: string;
  /**
   * Whether the callback is paused. If the callback is paused, one delivery is sent to it each hour as a test, unless another process has claimed the
   * test (D-137).
   */
  readonly isProbe: boolean;
}

export interface Claimed {
  readonly row: ClaimedRow;
  /** The further events that the delivery's POST has after the delivery's own event. */
  readonly members: readonly EventRow[];
  readonly isRetry: boolean;
  /** Whether the callback is paused, and this attempt tests whether it works again. */
  readonly isProbe: boolean;
  readonly fence: number;
  /** World time of the delivery's first attempt. */
  readonly firstMs: number;
}

/**
 * The state of a queue as a claim saw it; this state is valid once the transaction of the claim has committed. If a claim does not take a delivery
 * that waits for its first attempt, it does so for one of two reasons. The reason decides when the queue searches for that delivery again:
 *
 * | reason | next search |
 * | --- | --- |
 * | the queue could take no more (`hasMore`) | in the next turn, which every stored result brings about |
 * | a delivery of its entity goes first (`hasBlocked`), which this or another process has claimed | when a first attempt of this queue has ended in this process; a shared database is searched every second as well |
 */
export interface ClaimView {
  readonly request: ClaimRequest;
  readonly hasMore: boolean;
  readonly hasBlocked: boolean;
  readonly nextEntity: string;
  /** World time of the next retry, if the claim looked for retries. */
  readonly nextRetryMs: number | undefined;
}

export interface Claims {
  readonly claimed: readonly Claimed[];
  readonly views: readonly ClaimView[];
}

/** The id after which a search among the entities starts. The id of every entity is greater. */
export const FIRST_ENTITY = "0";

/** D-62: the greatest number of updates in one POST. */
const UPDATES_MAX = 1_000;
/** The greatest total size of the payloads in one webhook POST. Most receivers accept a body of this size. */
const BATCH_BYTES_MAX = 512 * 1024;
/** The greatest number of deliveries that join the batches of one turn. Without this limit, a claim would read a long backlog into memory at once. */
const JOINED_MAX = 4_000;
/**
 * The number of waiting deliveries that a search reads in addition to the number to claim, because some of these deliveries may wait behind others of
 * their entity.
 */
const LOOK_AHEAD = 16;
/** The greatest number of deliveries that one SQL statement gives back to their queues. */
const GIVEN_BACK_MAX = 512;

export interface ClaimTurn {
  readonly fence: number | Promise<number>;
  /** The world time at which the claim was made. */
  readonly nowMs: number;
  readonly fields: FieldCatalogue;
}

interface Found {
  readonly heads: readonly string[];
  /** The ids of those deliveries in `heads` behind which further deliveries of their entity wait. */
  readonly followed: ReadonlySet<string>;
  /** The waiting first attempts that the claim has read, the oldest first. */
  readonly waiting: readonly WaitingRow[];
  readonly isWhole: boolean;
  readonly view: Omit<ClaimView, "hasBlocked">;
  readonly dueRetries: readonly string[];
}

export async function claim(tx: Transaction, requests: readonly ClaimRequest[], turn: ClaimTurn): Promise<Claims> {
  const { nowMs, fields } = turn;
  // The queries of a claim run concurrently, so that PostgreSQL receives their statements in one round trip.
  const [fence, found] = await Promise.all([
    turn.fence,
    Promise.all(requests.map((request) => (request.isProbe ? lookForProbe : look)(tx, request, nowMs))),
  ]);
  const queues = new Set(requests.map(({ queue }) => queue));
  const probed = new Set(requests.filter(({ isProbe }) => isProbe).map(({ queue }) => queue));
  const firstIds = found.flatMap(({ heads }) => heads);
  const retryIds = found.flatMap(({ dueRetries }) => dueRetries);
  // Between the search and the lock, another process may have moved a delivery to a queue that this turn does not serve.
  const isHere = ({ callback }: ClaimedRow): boolean => queues.has(callback);
  const [lockedFirsts, lockedRetries] = await Promise.all([
    firstIds.length === 0 ? [] : lockFirsts(tx, firstIds),
    retryIds.length === 0 ? [] : lockRetries(tx, retryIds),
  ]);
  const [firsts, retries] = [lockedFirsts.filter(isHere), lockedRetries.filter(isHere)];
  const followed = new Set(found.flatMap((one) => [...one.followed]));
  // A batch of deliveries is formed only once (D-62): if a batch comes back unsent, it keeps its events, and a delivery that was tried keeps its
  // body.
  const leading = firsts.filter(({ id, members, attempts }) => members === 0 && attempts === NO_ATTEMPTS && followed.has(id));
  const [joined] = await Promise.all([
    joinAll(tx, fields, leading),
    firsts.length > 0 && claimFirsts(tx, idsOf(firsts), fence, nowMs),
    retries.length > 0 && claimRetries(tx, idsOf(retries), fence),
  ]);
  const formed = await Promise.all(
    [...firsts, ...retries].map(async (row) => [row.id, row.members > 0 ? await findMembers(tx, row.id) : (joined.get(row.id) ?? [])] as const),
  );
  const members = new Map<string, readonly EventRow[]>(formed);
  const claimedAs = (isRetry: boolean) => (row: ClaimedRow) => ({
    ...{ row, members: members.get(row.id) ?? [], isRetry, isProbe: probed.has(row.callback), fence },
    firstMs: (isRetry ? row.first_attempt_ms : undefined) ?? nowMs,
  });
  return { claimed: [...firsts.map(claimedAs(false)), ...retries.map(claimedAs(true))], views: viewsOf(found, idsOf(firsts), joined) };
}

/**
 * Gives back the deliveries claimed under `fence` that are not in `held`. If a connection breaks during a commit, the database can have claimed
 * deliveries that the process does not hold.
 */
export async function giveBackUnknown(
  tx: Transaction,
  { fence, nowMs, held }: { readonly fence: number; readonly nowMs: number; readonly held: ReadonlySet<string> },
) {
  const unknown = idsOf(await findSending(tx, fence)).filter((id) => !held.has(id));
  for (let at = 0; at < unknown.length; at += GIVEN_BACK_MAX) await giveBackClaimed(tx, unknown.slice(at, at + GIVEN_BACK_MAX), fence, nowMs);
}

/**
 * Returns the state of each queue after the claim. A delivery that the claim read, but neither claimed nor joined to a batch, waits behind another
 * delivery of its entity.
 */
function viewsOf(found: readonly Found[], claimed: readonly string[], joined: ReadonlyMap<string, readonly EventRow[]>): ClaimView[] {
  const gone = new Set(claimed);
  for (const members of joined.values()) for (const { id } of members) gone.add(id);
  return found.map(({ view, waiting, isWhole }) => ({ ...view, hasBlocked: !isWhole || waiting.some(({ id }) => !gone.has(id)) }));
}

async function look(tx: Transaction, request: ClaimRequest, nowMs: number): Promise<Found> {
  const { queue, firsts, busy } = request;
  const limit = firsts + LOOK_AHEAD;
  const [waiting, { dueRetries, nextRetryMs }] = await Promise.all([
    firsts > 0 ? findFirsts(tx, queue, limit) : [],
    request.retries > 0 ? lookForRetries(tx, request, nowMs) : NO_RETRIES,
  ]);
  const isWhole = waiting.length < limit;
  const headOf = new Map<string, string>();
  const followed = new Set<string>();
  let hasMore = false;
  for (const { id, entity } of waiting) {
    const head = headOf.get(entity);
    if (head !== undefined) followed.add(head);
    else if (headOf.size < firsts && !busy.has(entity)) headOf.set(entity, id);
    else if (!busy.has(entity)) hasMore = true;
  }
  let nextEntity = request.fromEntity;
  if (!isWhole && firsts > 0) {
    // The first search found many deliveries of only a few entities, so a second search looks at the other entities one by one.
    if (headOf.size < firsts) nextEntity = await lookFurther(tx, request, headOf, followed);
    hasMore ||= headOf.size === firsts;
  }
  return { heads: [...headOf.values()], followed, waiting, isWhole, dueRetries, view: { request, hasMore, nextEntity, nextRetryMs } };
}

/** Looks for the one delivery that tests a paused callback: the delivery that comes first, or else a retry, even if the retry is not due. */
async function lookForProbe(tx: Transaction, request: ClaimRequest, nowMs: number): Promise<Found> {
  const found = await look(tx, request, nowMs);
  const retries = idsOf(await findDueRetries(tx, request.queue, Number.MAX_SAFE_INTEGER, 1));
  const hasHead = found.heads.length > 0;
  const isTaken = (hasHead || retries.length > 0) && (await takeProbe(tx, request.queue, nowMs, nowMs + PROBE_EVERY_MS));
  return {
    ...found,
    heads: isTaken ? found.heads : [],
    followed: isTaken ? found.followed : new Set(),
    dueRetries: isTaken && !hasHead ? retries : [],
    // The other deliveries to the paused callback are searched for when the next test is due.
    view: { ...found.view, hasMore: found.view.hasMore || (hasHead && !isTaken), nextRetryMs: retries.length > 0 ? nowMs : undefined },
  };
}

const NO_RETRIES = { dueRetries: [], nextRetryMs: undefined };

async function lookForRetries(
  tx: Transaction,
  { queue, retries }: ClaimRequest,
  nowMs: number,
): Promise<Pick<Found, "dueRetries"> & Pick<ClaimView, "nextRetryMs">> {
  const dueRetries = idsOf(await findDueRetries(tx, queue, nowMs, retries));
  // If the list of due retries is full, further retries may be due too; otherwise the next retry is the first one that is not in the list.
  return { dueRetries, nextRetryMs: dueRetries.length === retries ? nowMs : await findNextRetryTime(tx, queue, nowMs) };
}

/**
 * Finds the first deliveries (heads) of further entities, beginning after the entity at which the last search ended. Returns the entity at which this
 * search ended.
 */
async function lookFurther(
  tx: Transaction,
  { queue, firsts, fromEntity }: ClaimRequest,
  headOf: Map<string, string>,
  followed: Set<string>,
): Promise<string> {
  for (const after of fromEntity === FIRST_ENTITY ? [FIRST_ENTITY] : [fromEntity, FIRST_ENTITY]) {
    for (const { entity, id } of await findFreeHeads(tx, queue, after, firsts)) {
      if (headOf.has(entity)) continue;
      headOf.set(entity, id);
      followed.add(id);
      if (headOf.size === firsts) return entity;
    }
  }
  return FIRST_ENTITY;
}

/**
 * D-62, D-63: joins to each first delivery (head) the deliveries that follow it in its entity's order, as long as they always have the same route as
 * the first, whichever overrides are set or removed.
 */
async function joinAll(tx: Transaction, fields: FieldCatalogue, heads: readonly ClaimedRow[]): Promise<ReadonlyMap<string, readonly EventRow[]>> {
  const limit = Math.min(UPDATES_MAX - 1, Math.ceil(JOINED_MAX / Math.max(heads.length, 1)));
  const behind = await Promise.all(heads.map(async (head) => ({ head, rows: alike(fields, head, await findFollowers(tx, head, limit)) })));
  const ids = behind.flatMap(({ rows }) => idsOf(rows));
  const waiting = ids.length === 0 ? new Set<string>() : await lockWaiting(tx, ids);
  const joined = new Map<string, readonly EventRow[]>();
  for (const { head, rows } of behind) {
    // The batch ends before the first delivery that another process has claimed, that is itself a batch, or that was tried, because the deliveries
    // after such a delivery must be sent after it.
    const end = rows.findIndex(({ id }) => !waiting.has(id));
    const members = end < 0 ? rows : rows.slice(0, end);
    if (members.length > 0) joined.set(head.id, members);
  }
  await Promise.all([...joined].map(([head, members]) => joinMembers(tx, head, idsOf(members))));
  return joined;
}

function alike(fields: FieldCatalogue, head: ClaimedRow, followers: readonly EventRow[]): EventRow[] {
  const rows: EventRow[] = [];
  // Each character of a payload is one byte, because payloads are stored and sent in ASCII (D-62).
  let bytes = head.payload.length;
  for (const follower of followers) {
    bytes += follower.payload.length;
    if (!isSameRoute(fields, head, follower) || bytes > BATCH_BYTES_MAX) break;
    rows.push(follower);
  }
  return rows;
}

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

const isSameRoute = (fields: FieldCatalogue, one: EventRow, other: EventRow): boolean =>
  one.object === other.object && one.phone === other.phone && fields.isHonouringOverrides(one) === fields.isHonouringOverrides(other);
