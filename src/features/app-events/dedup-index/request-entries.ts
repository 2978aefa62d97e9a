/**
 * What the index holds of a request besides its event keys:
 *
 * - `devices`: each id of its device leads to the request, so that a page of a device's events is found from either end. A request
 *   of another kind than custom events is found by its kind too: an install is not looked for behind all conversions that followed.
 * - `ties`: the identities that the request ties together (D-74). Nearly all requests of a device name the same ones. So each of
 *   these identities leads to the newest request with exactly this set, whose *signature* is the fingerprint of the set. As the log
 *   is deleted from its oldest request on, a tie is lost with the last request that has it, and not before. (Except a request that
 *   D-71 keeps for a time far in the future: it keeps no tie.)
 */
import { isDevice } from "../intake/identities.ts";
import { fingerprintOf, keyFingerprint, listFingerprint } from "./fingerprints.ts";

/** A request as the index sees it. */
export interface IndexedRequest {
  /** The ids of its device and its persons. */
  readonly identities: readonly string[];
  /** The name of its first event in the log: that of a kind begins with a colon. */
  readonly name: string;
  /** D-76: a request whose events are all kept out of attribution ties ids of its device only, not persons. */
  readonly isTracked: boolean;
}

export interface RequestEntries {
  /** `[fingerprint, request, …]` */
  readonly devices: number[];
  /** `[fingerprint, signature, request, …]` */
  readonly ties: number[];
}

/** `kind`: the name of a kind in the log, to find only requests of this kind. */
export const deviceFingerprint = (id: string, kind?: string): number => (kind === undefined ? fingerprintOf(id) : keyFingerprint(id, kind));

export const tieFingerprint = (identity: string): number => keyFingerprint(identity, "tie");

export function addEntriesOf({ identities, name, isTracked }: IndexedRequest, request: number, { devices, ties }: RequestEntries): void {
  const ids = identities.filter(isDevice);
  for (const id of ids) {
    devices.push(deviceFingerprint(id), request);
    if (name.startsWith(":")) devices.push(deviceFingerprint(id, name), request);
  }
  const tied = isTracked ? identities : ids;
  if (tied.length < 2) return;
  const fingerprints = tied.map(tieFingerprint);
  const signature = listFingerprint(fingerprints);
  for (const fingerprint of fingerprints) ties.push(fingerprint, signature, request);
}
