/**
 * The index of devices finds a device's requests in the log, and the requests that name a person together with a device (D-74). The index has two
 * tables:
 *
 * - `app_event_devices` finds the requests of a device by each id of the device, beginning with the newest or with the oldest request. A request that
 *   reports an install or an app link is also found by its event kind, so that a page of installs reads no custom events.
 * - `app_event_ties` finds requests that tie persons to devices. A tie is a set of ids and persons that a request names together. Nearly all requests
 *   of a device name the same ids and persons, so the table stores only the newest request for each identity and tie. The column *signature* contains
 *   the fingerprint of the tie. Retention deletes the oldest requests first, so a tie is removed from the index with the newest request that names
 *   the tie's ids and persons. A tie is lost even if retention keeps an older request because of an event far in the future (D-71).
 *
 * Both tables of the index store fingerprints instead of ids, so code that searches the index must compare the ids of the requests that it finds.
 */
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { append, type SqlValue, sql } from "#storage/sql";
import type { EventKind } from "../app-events.contract.ts";
import { isDevice } from "../intake/parse-request.ts";
import { fingerprintOf } from "./fingerprints.ts";
import { allInList, insertRows } from "./rows.store.ts";

/** The data of a request that the index of devices stores. */
export interface IndexedRequest {
  readonly request: number;
  /** The ids of the request's device, and the persons that the request ties to the device. */
  readonly identities: readonly string[];
  /** The name of the request's first event in the log. An install or a link has the name of its kind (`kindName`). */
  readonly name: string;
}

/**
 * Returns the name of an install or a link in the log. No custom event can have the name of an install or a link, because D-70 does not allow a colon
 * in event names.
 */
export const kindName = (kind: EventKind): string => `:${kind}`;

/**
 * Returns the fingerprint of a device id. If the parameter `kind` (the name of a kind in the log) is given, only requests of this kind have the
 * fingerprint.
 */
const deviceFingerprint = (id: string, kind = ""): number => fingerprintOf(`${id}${kind}`);

/** Returns the fingerprints by which the index finds a request of a device. `name` is the name of the request's first event. */
const fingerprintsOf = (id: string, name: string): number[] =>
  name.startsWith(":") ? [deviceFingerprint(id), deviceFingerprint(id, name)] : [deviceFingerprint(id)];

/** Returns whether a request with these identities ties persons to a device. */
const hasTies = (identities: readonly string[]): boolean => identities.some(isDevice) && !identities.every(isDevice);

/**
 * Adds requests to the index of devices. `requests` must be sorted by request number. The caller must use the transaction that writes the requests to
 * the log.
 */
export async function indexDevices(tx: Transaction, app: NodeId, requests: readonly IndexedRequest[]): Promise<void> {
  const devices: SqlValue[] = [];
  /** The rows of `app_event_ties`, by identity and tie. A map contains each row only once, because one SQL statement cannot change a row twice. */
  const ties = new Map<string, SqlValue[]>();
  for (const { request, identities, name } of requests) {
    for (const id of identities.filter(isDevice)) for (const one of fingerprintsOf(id, name)) devices.push(app, one, request);
    if (!hasTies(identities)) continue;
    // An identity never contains U+0000, so two different sets of identities never have the same text.
    const set = identities.join("\u0000");
    for (const identity of identities) ties.set(`${identity}\u0000${set}`, [app, fingerprintOf(identity), fingerprintOf(set), request]);
  }
  const newest = "ON CONFLICT (app, fingerprint, signature) DO UPDATE SET request = excluded.request";
  await Promise.all([
    insertRows(tx, sql`INSERT INTO app_event_devices (app, fingerprint, request)`, 3, devices, "ON CONFLICT DO NOTHING"),
    insertRows(tx, sql`INSERT INTO app_event_ties (app, fingerprint, signature, request)`, 4, [...ties.values()].flat(), newest),
  ]);
}

/** A range of request numbers from `first` to `last`, including both. */
export interface RequestSpan {
  readonly first: number;
  readonly last: number;
}

/** Removes requests from the index of devices. `requests` must contain all requests of the range of request numbers. */
export async function forgetDevices(
  tx: Transaction,
  app: NodeId,
  requests: readonly Omit<IndexedRequest, "request">[],
  { first, last }: RequestSpan,
): Promise<void> {
  const devices = new Set(requests.flatMap(({ identities, name }) => identities.filter(isDevice).flatMap((id) => fingerprintsOf(id, name))));
  const ties = new Set(requests.flatMap(({ identities }) => (hasTies(identities) ? identities : [])).map((identity) => fingerprintOf(identity)));
  // The function uses one DELETE statement for each identity. For a list of identities, PostgreSQL may read all rows of the app if the table was
  // small when PostgreSQL planned the statement.
  await Promise.all([
    ...[...devices].map((one) =>
      tx.run(sql`DELETE FROM app_event_devices WHERE app = ${app} AND fingerprint = ${one} AND request BETWEEN ${first} AND ${last}`),
    ),
    ...[...ties].map((one) =>
      tx.run(sql`DELETE FROM app_event_ties WHERE app = ${app} AND fingerprint = ${one} AND request BETWEEN ${first} AND ${last}`),
    ),
  ]);
}

/**
 * Describes a search for requests of a device. The search returns at most `limit` requests: the nearest requests below the number `from`, or above
 * that number if `isBackward` is set.
 */
export interface WantedRequests {
  readonly ids: readonly string[];
  /** The name of a kind in the log. The search finds only requests whose event kind is `kind`, or requests of all kinds if `kind` is undefined. */
  readonly kind: string | undefined;
  readonly isBackward: boolean;
  readonly from: number;
  readonly limit: number;
}

/**
 * Returns the numbers of the requests that the device of the search may have sent. Each request number is returned once, in the order of the search.
 * If the search returns fewer than `limit` numbers, no further requests exist.
 */
export async function findRequests(reader: Reader, app: NodeId, { ids, kind, isBackward, from, limit }: WantedRequests): Promise<number[]> {
  const found = new Set<number>();
  // The search uses one SELECT statement for each id of the device. The primary key sorts the requests of an id, so each statement reads only the
  // rows that it returns.
  for (const id of ids) {
    const requests = sql`SELECT d.request FROM app_event_devices d WHERE d.app = ${app} AND d.fingerprint = ${deviceFingerprint(id, kind)}`;
    const nearest = isBackward ? "AND d.request > ? ORDER BY d.request LIMIT ?" : "AND d.request < ? ORDER BY d.request DESC LIMIT ?";
    for (const { request } of await reader.all<{ request: number }>(append(requests, nearest, [from, limit]))) found.add(request);
  }
  return [...found].sort((one, other) => (isBackward ? one - other : other - one)).slice(0, limit);
}

/** Returns the numbers of a few requests that together name all identities that are tied to the given identities. */
export async function findTies(reader: Reader, app: NodeId, identities: readonly string[]): Promise<number[]> {
  const ties = sql`SELECT t.request FROM app_event_ties t WHERE t.app = ${app} AND t.fingerprint`;
  const rows = await allInList<{ request: number }>(
    reader,
    ties,
    identities.map((identity) => fingerprintOf(identity)),
  );
  return [...new Set(rows.map(({ request }) => request))];
}
