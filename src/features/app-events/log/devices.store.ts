/**
 * The index of devices: which requests of the log are of a device, and which ones name a person beside a device (D-74). Two tables:
 *
 * - `app_event_devices`: each id of a device leads to its requests, so that a page of a device's events is found from either end. A request
 *   of another kind than custom events is found by its kind too: a page of installs reads no conversions.
 * - `app_event_ties`: the ids and persons that a request names together. Nearly all requests of a device name the same ones. So each of these
 *   identities leads to the newest request with exactly this set, whose *signature* is the fingerprint of the set. As retention deletes the
 *   oldest requests first, a tie is lost with the last request that has it. (Except a request that D-71 keeps for a time far in the future:
 *   it keeps no tie.)
 *
 * Both hold fingerprints, so readers compare the ids of the requests that they find.
 */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { append, type SqlValue, sql } from "#storage/sql";
import { type EventKind, eventKinds } from "../app-events.contract.ts";
import { isDevice } from "../intake/parse-request.ts";
import { fingerprintOf } from "./fingerprints.ts";
import { allInList, insertRows } from "./rows.store.ts";

/** The part of a request that is indexed. */
export interface IndexedRequest {
  readonly request: number;
  /** The ids of its device, and the persons that it ties to the device. */
  readonly identities: readonly string[];
  /** The name of its first event in the log. The name of a kind begins with a colon. */
  readonly name: string;
}

/** The name of an install or a link in the log. No event can have it, because D-70 does not allow a colon. */
export const kindName = (kind: EventKind): string => `:${kind}`;
const kindNames = eventKinds.map(kindName);

/** `kind`: the name of a kind in the log, to find only requests of this kind. */
const deviceFingerprint = (id: string, kind = ""): number => fingerprintOf(`${id}${kind}`);

/** `requests` are in the order of their numbers. Must be called in the transaction that writes the log. */
export async function indexDevices(tx: Transaction, app: NodeId, requests: readonly IndexedRequest[]): Promise<void> {
  const devices: SqlValue[] = [];
  /** By identity and set: a statement cannot change a row twice. */
  const ties = new Map<string, SqlValue[]>();
  for (const { request, identities, name } of requests) {
    const ids = identities.filter(isDevice);
    for (const id of ids) {
      devices.push(app, deviceFingerprint(id), request);
      if (name.startsWith(":")) devices.push(app, deviceFingerprint(id, name), request);
    }
    if (ids.length === identities.length || ids.length === 0) continue;
    // No identity contains U+0000, so different sets have different texts.
    const set = identities.join("\u0000");
    for (const identity of identities) ties.set(`${identity}\u0000${set}`, [app, fingerprintOf(identity), fingerprintOf(set), request]);
  }
  await insertRows(tx, sql`INSERT INTO app_event_devices (app, fingerprint, request)`, 3, devices, "ON CONFLICT DO NOTHING");
  await insertRows(
    tx,
    sql`INSERT INTO app_event_ties (app, fingerprint, signature, request)`,
    4,
    [...ties.values()].flat(),
    "ON CONFLICT (app, fingerprint, signature) DO UPDATE SET request = excluded.request",
  );
}

/** Requests by their numbers, both included. */
export interface RequestSpan {
  readonly first: number;
  readonly last: number;
}

/** Removes the index rows of these identities for the requests of the span. */
export async function forgetDevices(tx: Transaction, app: NodeId, identities: readonly string[], { first, last }: RequestSpan): Promise<void> {
  const devices = identities.filter(isDevice).flatMap((id) => ["", ...kindNames].map((kind) => deviceFingerprint(id, kind)));
  const ties = identities.map((identity) => fingerprintOf(identity));
  // A statement for each identity: for a list PostgreSQL may read all rows of the app, if the table was small when it made the plan.
  await Promise.all([
    ...devices.map((one) =>
      tx.run(sql`DELETE FROM app_event_devices WHERE app = ${app} AND fingerprint = ${one} AND request BETWEEN ${first} AND ${last}`),
    ),
    ...ties.map((one) =>
      tx.run(sql`DELETE FROM app_event_ties WHERE app = ${app} AND fingerprint = ${one} AND request BETWEEN ${first} AND ${last}`),
    ),
  ]);
}

/** Requests of a device, the nearest ones beyond `from`: downwards, or upwards if `isBackward`. */
export interface WantedRequests {
  readonly ids: readonly string[];
  /** The name of a kind in the log, if only requests of this kind are wanted. */
  readonly kind: string | undefined;
  readonly isBackward: boolean;
  readonly from: number;
  readonly limit: number;
}

/** Requests that may be of this device, each once, in the order that `wanted` asks for. Fewer than `limit` are the last ones. */
export async function findRequests(reader: Reader, app: NodeId, { ids, kind, isBackward, from, limit }: WantedRequests): Promise<number[]> {
  const found = new Set<number>();
  // A statement for each id: the primary key orders the requests of one id, so no entry is read in vain.
  for (const id of ids) {
    const requests = sql`SELECT d.request FROM app_event_devices d WHERE d.app = ${app} AND d.fingerprint = ${deviceFingerprint(id, kind)}`;
    const nearest = isBackward ? "AND d.request > ? ORDER BY d.request LIMIT ?" : "AND d.request < ? ORDER BY d.request DESC LIMIT ?";
    for (const { request } of await reader.all<{ request: number }>(append(requests, nearest, [from, limit]))) found.add(request);
  }
  return [...found].sort((one, other) => (isBackward ? one - other : other - one)).slice(0, limit);
}

/** Requests that together name all identities that are tied to these, and few others. */
export async function findTies(reader: Reader, app: NodeId, identities: readonly string[]): Promise<number[]> {
  const ties = sql`SELECT t.request FROM app_event_ties t WHERE t.app = ${app} AND t.fingerprint`;
  const rows = await allInList<{ request: number }>(
    reader,
    ties,
    identities.map((identity) => fingerprintOf(identity)),
  );
  return [...new Set(rows.map(({ request }) => request))];
}
