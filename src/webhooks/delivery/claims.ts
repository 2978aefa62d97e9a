/** Claiming: which deliveries are sent next, and which travel together. One transaction, which runs again if it was rolled back. */
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

/** How much a queue may claim in this turn. */
export interface ClaimRequest {
  /** The callback's id. */
  readonly queue: string;
  readonly firsts: number;
  readonly retries: number;
  /** Entities whose first attempts this process holds: later ones of theirs wait. It changes while the claim runs. */
  readonly busy: ReadonlySet<string>;
  /** The entity at which the last search ended. */
  readonly fromEntity: string;
  /** The callback is paused: one delivery, if no other process has taken this hour's (D-137). */
  readonly isProbe: boolean;
}

export interface Claimed {
  readonly row: ClaimedRow;
  /** The events that travel in its POST, after its own. */
  readonly members: readonly EventRow[];
  readonly isRetry: boolean;
  /** Its callback is paused, and this attempt finds out whether it works again. */
  readonly isProbe: boolean;
  readonly fence: number;
  /** World time of its first attempt. */
  readonly firstMs: number;
}

/**
 * The state of a queue as a claim saw it; it holds once the transaction has committed. A delivery that still waits for its first attempt was
 * left for one of two reasons, and each makes the queue look for it again:
 *
 * | left because | looked for again |
 * | --- | --- |
 * | the queue could take no more (`hasMore`) | in the next turn, which every stored result brings about |
 * | a delivery of its entity goes first (`hasBlocked`): one that was claimed before, or now, by this process or another | when a first attempt of this queue has ended here; a shared database is searched every second as well |
 */
export interface ClaimView {
  readonly request: ClaimRequest;
  readonly hasMore: boolean;
  readonly hasBlocked: boolean;
  readonly nextEntity: string;
  /** World time of the next retry, where retries were looked for. */
  readonly nextRetryMs: number | undefined;
}

export interface Claims {
  readonly claimed: readonly Claimed[];
  readonly views: readonly ClaimView[];
}

/** A search among the entities begins after this one. */
export const FIRST_ENTITY = "0";

/** D-62: updates in a POST. */
const UPDATES_MAX = 1_000;
/** And the size of their payloads, so that a receiver with a usual limit on bodies takes them. */
const BATCH_BYTES_MAX = 512 * 1024;
/** In all batches of a turn, so that a backlog is not taken into memory at once. */
const JOINED_MAX = 4_000;
/** Deliveries that are looked at beyond what may be claimed, since some may wait behind one of their entity. */
const LOOK_AHEAD = 16;
/** In one statement. */
const GIVEN_BACK_MAX = 512;

export interface ClaimTurn {
  readonly fence: number | Promise<number>;
  /** World time. */
  readonly nowMs: number;
  readonly fields: FieldCatalogue;
}

interface Found {
  readonly heads: readonly string[];
  /** Heads with something of their entity behind them. */
  readonly followed: ReadonlySet<string>;
  /** First attempts that wait, the oldest first, as far as they were looked at. */
  readonly waiting: readonly WaitingRow[];
  readonly isWhole: boolean;
  readonly view: Omit<ClaimView, "hasBlocked">;
  readonly dueRetries: readonly string[];
}

export async function claim(tx: Transaction, requests: readonly ClaimRequest[], turn: ClaimTurn): Promise<Claims> {
  const { nowMs, fields } = turn;
  // Side by side, so that on PostgreSQL their statements travel together.
  const [fence, found] = await Promise.all([
    turn.fence,
    Promise.all(requests.map((request) => (request.isProbe ? lookForProbe : look)(tx, request, nowMs))),
  ]);
  const queues = new Set(requests.map(({ queue }) => queue));
  const probed = new Set(requests.filter(({ isProbe }) => isProbe).map(({ queue }) => queue));
  const firstIds = found.flatMap(({ heads }) => heads);
  const retryIds = found.flatMap(({ dueRetries }) => dueRetries);
  // Between the look and the lock another process may have moved a delivery to a queue that this turn does not serve.
  const isHere = ({ callback }: ClaimedRow): boolean => queues.has(callback);
  const [lockedFirsts, lockedRetries] = await Promise.all([
    firstIds.length === 0 ? [] : lockFirsts(tx, firstIds),
    retryIds.length === 0 ? [] : lockRetries(tx, retryIds),
  ]);
  const [firsts, retries] = [lockedFirsts.filter(isHere), lockedRetries.filter(isHere)];
  const followed = new Set(found.flatMap((one) => [...one.followed]));
  // A batch is formed once (D-62): one that came back unsent keeps what joined it, and one that was tried its body.
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

/** Gives back deliveries that are claimed under `fence` and not `held`, as after a commit whose connection broke. */
export async function giveBackUnknown(
  tx: Transaction,
  { fence, nowMs, held }: { readonly fence: number; readonly nowMs: number; readonly held: ReadonlySet<string> },
) {
  const unknown = idsOf(await findSending(tx, fence)).filter((id) => !held.has(id));
  for (let at = 0; at < unknown.length; at += GIVEN_BACK_MAX) await giveBackClaimed(tx, unknown.slice(at, at + GIVEN_BACK_MAX), fence, nowMs);
}

/** Deliveries that were looked at and neither claimed nor joined to a batch have one of their entity before them. */
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
    // Much waits behind a few entities: the others are searched one by one.
    if (headOf.size < firsts) nextEntity = await lookFurther(tx, request, headOf, followed);
    hasMore ||= headOf.size === firsts;
  }
  return { heads: [...headOf.values()], followed, waiting, isWhole, dueRetries, view: { request, hasMore, nextEntity, nextRetryMs } };
}

/** The delivery that comes first, or else a retry, whenever it is due. */
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
    // The others are searched for when the next attempt is due.
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
  // With a full list the next one is due as well; otherwise it is the first that is not in the list.
  return { dueRetries, nextRetryMs: dueRetries.length === retries ? nowMs : await findNextRetryTime(tx, queue, nowMs) };
}

/** Adds heads of other entities: first of those after the entity where the last search ended. Returns where this one ended. */
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

/** D-62, D-63: those behind each head in the order of its entity, as far as they go by the same route whatever is set or removed. */
async function joinAll(tx: Transaction, fields: FieldCatalogue, heads: readonly ClaimedRow[]): Promise<ReadonlyMap<string, readonly EventRow[]>> {
  const limit = Math.min(UPDATES_MAX - 1, Math.ceil(JOINED_MAX / Math.max(heads.length, 1)));
  const behind = await Promise.all(heads.map(async (head) => ({ head, rows: alike(fields, head, await findFollowers(tx, head, limit)) })));
  const ids = behind.flatMap(({ rows }) => idsOf(rows));
  const waiting = ids.length === 0 ? new Set<string>() : await lockWaiting(tx, ids);
  const joined = new Map<string, readonly EventRow[]>();
  for (const { head, rows } of behind) {
    // Up to the first that another process has claimed, or that was a batch or tried: what is behind that one goes after it.
    const end = rows.findIndex(({ id }) => !waiting.has(id));
    const members = end < 0 ? rows : rows.slice(0, end);
    if (members.length > 0) joined.set(head.id, members);
  }
  await Promise.all([...joined].map(([head, members]) => joinMembers(tx, head, idsOf(members))));
  return joined;
}

function alike(fields: FieldCatalogue, head: ClaimedRow, followers: readonly EventRow[]): EventRow[] {
  const rows: EventRow[] = [];
  // Payloads are stored in ASCII, as they are sent (D-62): each character is a byte.
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
