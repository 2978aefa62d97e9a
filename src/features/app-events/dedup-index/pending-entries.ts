/** The entries of the log's index on SQLite that are in no run yet (`runs.store.ts`). */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import { identitiesOfText } from "../intake/parse-request.ts";
import { readKeysAfter } from "../log/log.store.ts";
import { type IndexEntries, type NewEntries, nearest, type TimeSpan, type WantedRequests } from "./entries.store.ts";
import { keyFingerprint } from "./fingerprints.ts";
import { addEntriesOf, type IndexedRequest, type RequestEntries } from "./request-entries.ts";
import { RequestTable } from "./request-table.ts";
import { joined, NO_TIMES } from "./run-covers.ts";
import { TieTable } from "./tie-table.ts";

/** Requests stand in the order of their numbers. */
export interface Pending {
  readonly keys: RequestTable;
  readonly devices: RequestTable;
  readonly ties: TieTable;
  times: TimeSpan;
  lastRequest: number;
  /** While the log is read: what was committed meanwhile, which it may or may not have shown. */
  waiting: NewEntries[] | undefined;
}

export const nothingPending = (lastRequest: number, waiting?: NewEntries[]): Pending => ({
  keys: new RequestTable(),
  devices: new RequestTable(),
  ties: new TieTable(),
  times: NO_TIMES,
  lastRequest,
  waiting,
});

export const sizeOf = ({ keys, devices, ties }: Pending): number => keys.size + devices.size + ties.requests.size;

/** Adds what was committed. A transaction's requests are all known already, or all new. */
export function addPending(pending: Pending, entries: NewEntries): void {
  if (pending.waiting !== undefined) {
    pending.waiting.push(entries);
    return;
  }
  if (entries.lastRequest <= pending.lastRequest) return;
  addTo(pending.keys, entries.keys);
  addRequests(pending, entries);
  pending.times = joined(pending.times, entries.times);
  pending.lastRequest = entries.lastRequest;
}

function addTo(table: RequestTable, entries: IndexEntries): void {
  for (let i = 0; i < entries.length; i += 2) table.add(entries[i] as number, entries[i + 1] as number);
}

function addRequests({ devices, ties }: Pending, entries: Pick<NewEntries, "devices" | "ties">): void {
  addTo(devices, entries.devices);
  for (let i = 0; i < entries.ties.length; i += 3) ties.set(entries.ties[i] as number, entries.ties[i + 1] as number, entries.ties[i + 2] as number);
}

/** The wanted requests among the pending ones. */
export function pendingRequests({ devices }: Pending, fingerprints: readonly number[], wanted: WantedRequests): number[] {
  const { isBackward, from, limit } = wanted;
  const found: number[] = [];
  for (const fingerprint of fingerprints) {
    let left = limit;
    devices.visitNewest(fingerprint, (request) => {
      if (isBackward ? request <= from : request >= from) return !isBackward;
      found.push(request);
      return isBackward || --left > 0;
    });
  }
  return nearest(found, wanted);
}

/** Rows of the log read at once. */
const LOAD_ROWS = 5_000;

/** Adds the requests of the log after `last`, and what waits. */
export async function loadPending(reader: Reader, app: NodeId, last: number, pending: Pending): Promise<void> {
  let [request, position] = [last, Number.MAX_SAFE_INTEGER];
  let open: (IndexedRequest & { isTracked: boolean }) | undefined;
  const close = () => {
    const entries: RequestEntries = { devices: [], ties: [] };
    if (open !== undefined) addEntriesOf(open, request, entries);
    addRequests(pending, entries);
  };
  for (;;) {
    const rows = await readKeysAfter(reader, app, request, position, LOAD_ROWS);
    for (const row of rows) {
      if (row.position === 0) {
        close();
        open = { identities: identitiesOfText(row.device ?? "{}"), name: row.name, isTracked: false };
      }
      if (open !== undefined) open.isTracked ||= row.tracking === 1;
      if (row.event_id !== null) pending.keys.add(keyFingerprint(row.name, row.event_id), row.request);
      pending.times = joined(pending.times, { first: row.time, last: row.time });
      [request, position] = [row.request, row.position];
    }
    if (rows.length === 0) break;
  }
  close();
  pending.lastRequest = request;
  const { waiting = [] } = pending;
  pending.waiting = undefined;
  for (const entries of waiting) addPending(pending, entries);
}
