/** Claiming: which deliveries go out next, and what travels together. One transaction, run again when it was undone. */
import type { Transaction } from "#storage/database";
import type { FieldCatalogue } from "../catalogue/catalogue.ts";
import {
  type ClaimedRow,
  claimFirsts,
  claimRetries,
  type EventRow,
  findDueRetries,
  findFirsts,
  findFollowers,
  findHeads,
  findMembers,
  findNextRetryTime,
  joinMembers,
  lockFirsts,
  lockRetries,
  lockWaiting,
} from "./deliveries.store.ts";
import type { Lane } from "./queue/endpoint-queue.ts";

/** What a lane may take in this turn. */
export interface Want {
  readonly lane: Lane;
  readonly firsts: number;
  readonly retries: number;
}

export interface Claimed {
  readonly lane: Lane;
  readonly row: ClaimedRow;
  readonly members: readonly EventRow[];
  readonly isRetry: boolean;
  readonly fence: number;
  /** World time of its first attempt. */
  readonly firstMs: number;
}

/** What was seen of a lane, to be believed once the transaction has committed. */
export interface Seen {
  readonly lane: Lane;
  /** More waits than was taken. */
  readonly hasFirsts: boolean;
  /** Something waits behind a delivery of its entity. */
  readonly hasBlocked: boolean;
  /** Undefined: it was not looked at. */
  readonly retries: { readonly nextMs: number | undefined } | undefined;
  readonly nextEntity: string;
  /** Of the lane, before the look. */
  readonly endCount: number;
}

/** D-62: updates in a POST. */
const UPDATES_MAX = 1_000;
/** And their size, so that a receiver with a usual limit on bodies takes them. */
const BATCH_CHARACTERS_MAX = 512 * 1024;
/** In all batches of a turn, so that a backlog is not taken into memory at once. */
const JOINED_MAX = 4_000;
/** Looked at beyond what a lane may take, since some may wait behind their entity. */
const LOOK_AHEAD = 16;

export interface ClaimTurn {
  readonly fence: number;
  /** World time. */
  readonly nowMs: number;
  readonly fields: FieldCatalogue;
}

interface Found {
  readonly want: Want;
  readonly heads: readonly string[];
  /** Heads with something of their entity behind them. */
  readonly followed: ReadonlySet<string>;
  readonly seen: Seen;
  readonly dueRetries: readonly string[];
}

export async function claim(tx: Transaction, wants: readonly Want[], turn: ClaimTurn): Promise<{ claimed: Claimed[]; seen: Seen[] }> {
  const { fence, nowMs, fields } = turn;
  // Side by side, so that on PostgreSQL their statements travel together.
  const found = await Promise.all(wants.map((want) => look(tx, want, nowMs)));
  const lanes = new Map(wants.map(({ lane }) => [lane.id, lane]));
  const firstIds = found.flatMap(({ heads }) => heads);
  const retryIds = found.flatMap(({ dueRetries }) => dueRetries);
  // Between the look and the lock a delivery may have been moved to a lane that this turn does not serve.
  const isHere = ({ lane }: ClaimedRow): boolean => lanes.has(lane);
  const firsts = firstIds.length === 0 ? [] : (await lockFirsts(tx, firstIds)).filter(isHere);
  const retries = retryIds.length === 0 ? [] : (await lockRetries(tx, retryIds)).filter(isHere);
  if (firsts.length > 0) await claimFirsts(tx, idsOf(firsts), fence, nowMs);
  if (retries.length > 0) await claimRetries(tx, idsOf(retries), fence);

  const followed = new Set(found.flatMap((one) => [...one.followed]));
  // A batch is formed once (D-62): one that came back unsent keeps what joined it.
  const joined = await joinAll(
    tx,
    fields,
    firsts.filter(({ id, members }) => members === 0 && followed.has(id)),
  );
  const formed = await Promise.all(
    [...firsts, ...retries].map(async (row) => [row.id, row.members > 0 ? await findMembers(tx, row.id) : (joined.get(row.id) ?? [])] as const),
  );
  const members = new Map<string, readonly EventRow[]>(formed);
  const claimedAs = (isRetry: boolean) => (row: ClaimedRow) => ({
    ...{ lane: lanes.get(row.lane) as Lane, row, members: members.get(row.id) ?? [], isRetry, fence },
    firstMs: (isRetry ? row.first_attempt_ms : undefined) ?? nowMs,
  });
  return { claimed: [...firsts.map(claimedAs(false)), ...retries.map(claimedAs(true))], seen: found.map(({ seen }) => seen) };
}

async function look(tx: Transaction, want: Want, nowMs: number): Promise<Found> {
  const { lane } = want;
  const { endCount } = lane;
  const limit = want.firsts + LOOK_AHEAD;
  const waiting = want.firsts > 0 ? await findFirsts(tx, lane.id, limit) : [];
  const headOf = new Map<string, string>();
  const followed = new Set<string>();
  let hasBlocked = false;
  let isFull = waiting.length === limit;
  for (const { id, entity } of waiting) {
    const head = headOf.get(entity);
    if (lane.entities.has(entity)) hasBlocked = true;
    else if (head !== undefined) followed.add(head);
    else if (headOf.size < want.firsts) headOf.set(entity, id);
    else isFull = true;
  }
  // Much waits behind a few entities: those of the others are looked up one by one.
  const nextEntity = isFull && headOf.size < want.firsts ? await lookFurther(tx, want, headOf, followed) : lane.nextEntity;
  const due = want.retries > 0 ? await findDueRetries(tx, lane.id, nowMs, want.retries) : [];
  const dueRetries = due.map(({ id }) => id);
  // With a full list the next one is due as well; otherwise the first that is not in the list.
  const nextMs = want.retries === 0 || dueRetries.length === want.retries ? nowMs : await findNextRetryTime(tx, lane.id, nowMs);
  const hasFirsts = want.firsts === 0 ? lane.hasFirsts : isFull;
  return {
    want,
    heads: [...headOf.values()],
    followed,
    dueRetries,
    seen: {
      lane,
      hasFirsts,
      hasBlocked: want.firsts === 0 ? lane.hasBlocked : hasBlocked,
      retries: want.retries === 0 ? undefined : { nextMs },
      nextEntity,
      endCount,
    },
  };
}

/** Adds heads of other entities, beginning where the last look ended. Answers where this one did. */
async function lookFurther(tx: Transaction, { lane, firsts }: Want, headOf: Map<string, string>, followed: Set<string>): Promise<string> {
  const limit = firsts + LOOK_AHEAD;
  const heads = await findHeads(tx, lane.id, lane.nextEntity, limit);
  for (const { entity, id } of heads) {
    if (headOf.size >= firsts) return entity;
    if (lane.entities.has(entity) || headOf.has(entity)) continue;
    headOf.set(entity, id);
    followed.add(id);
  }
  return heads.length < limit ? "0" : (heads.at(-1)?.entity ?? "0");
}

/** D-62, D-63: those behind each head in the order of its entity, as far as they go by the same route whatever is set or removed. */
async function joinAll(tx: Transaction, fields: FieldCatalogue, heads: readonly ClaimedRow[]): Promise<ReadonlyMap<string, readonly EventRow[]>> {
  const limit = Math.min(UPDATES_MAX - 1, Math.ceil(JOINED_MAX / Math.max(heads.length, 1)));
  const behind = await Promise.all(heads.map(async (head) => ({ head, rows: alike(fields, head, await findFollowers(tx, head, limit)) })));
  const ids = behind.flatMap(({ rows }) => idsOf(rows));
  const waiting = ids.length === 0 ? new Set<string>() : await lockWaiting(tx, ids);
  const joined = new Map<string, readonly EventRow[]>();
  for (const { head, rows } of behind) {
    // Up to the first that another process has claimed: what is behind that one goes after it.
    const end = rows.findIndex(({ id }) => !waiting.has(id));
    const members = end < 0 ? rows : rows.slice(0, end);
    if (members.length > 0) joined.set(head.id, members);
  }
  await Promise.all([...joined].map(([head, members]) => joinMembers(tx, head, idsOf(members))));
  return joined;
}

function alike(fields: FieldCatalogue, head: ClaimedRow, followers: readonly EventRow[]): EventRow[] {
  const rows: EventRow[] = [];
  let characters = head.payload.length;
  for (const follower of followers) {
    characters += follower.payload.length;
    if (!isSameRoute(fields, head, follower) || characters > BATCH_CHARACTERS_MAX) break;
    rows.push(follower);
  }
  return rows;
}

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

const isSameRoute = (fields: FieldCatalogue, one: EventRow, other: EventRow): boolean =>
  one.object === other.object && one.phone === other.phone && fields.isHonouringOverrides(one) === fields.isHonouringOverrides(other);
