/** Erases a person from the log of app events, the ids of devices and the touches of ads (D-172). */
import { createHash } from "node:crypto";
import type { Erased } from "#graph/contract/feature";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { mentionsOf } from "#kernel/redaction/redaction";
import { deleteTouchesOf } from "../attribution/ads.store.ts";
import { deviceIdentities, identitiesOfText, type LoggedDevice } from "../intake/parse-request.ts";
import { normalizeUserData } from "../intake/parse-user-data.ts";
import { deleteJoinedIds } from "./joined-ids.store.ts";
import { emptyRequest, type LoggedTexts, listAppsWithEvents, listLoggedTexts } from "./log.store.ts";

const ROWS_MAX = 1_000;
/** The log stores this device without personal data instead of the device of an erased request. */
const NO_DEVICE = { application_tracking_enabled: 0, advertiser_tracking_enabled: 0 } as const satisfies Partial<LoggedDevice>;
/** The keys of user data that identify one person (D-74). */
const PERSON_KEYS = ["em", "ph", "external_id"] as const;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export async function erasePerson({ database }: World, ids: readonly string[]): Promise<Erased> {
  // The log stores e-mail addresses, telephone numbers and external ids only as hashes, so the erasure searches for the hashes.
  const hashes = ids.flatMap((id) => PERSON_KEYS.map((key) => ({ key, hash: sha256(normalizeUserData(key, id)) })));
  const identities = [
    ...ids.flatMap((id) => deviceIdentities({ advertiser_id: id, attribution: id })),
    ...hashes.map(({ key, hash }) => `${key}:${hash}`),
  ];
  const isNamed = mentionsOf([...ids, ...ids.map((id) => id.toLowerCase()), ...hashes.map(({ hash }) => hash)]);
  const isTheirs = isOneOf(identities);
  const isOf = ({ parameters, event_id, device }: LoggedTexts): boolean =>
    isNamed(parameters) || isNamed(event_id ?? "") || (device !== null && (isNamed(device) || isTheirs(device)));
  let events = 0;
  for (const app of await listAppsWithEvents(database.reader)) events += await eraseFromLog(database, app, isOf);
  const device_ids = await database.write((tx) => deleteJoinedIds(tx, identities));
  const touches = await database.write((tx) => deleteTouchesOf(tx, identities));
  return { "app events": events, "device ids": device_ids, "ad touches": touches };
}

/**
 * Makes a function that returns whether a device of the log has one of the identities. The log stores UUIDs and hashes as the client sent them, in
 * upper or lower case.
 */
const isOneOf = (identities: readonly string[]) => {
  const known = new Set(identities);
  return (device: string): boolean => identitiesOfText(device).some((identity) => known.has(identity));
};

/** Deletes the personal data of all events in each request that names the person. Returns the number of events whose data was deleted. */
async function eraseFromLog(database: World["database"], app: NodeId, isOf: (row: LoggedTexts) => boolean): Promise<number> {
  const noDevice = JSON.stringify(NO_DEVICE);
  let emptied = 0;
  for (let [request, position] = [0, -1]; ; ) {
    const rows = await listLoggedTexts(database.reader, app, request, position, ROWS_MAX);
    const requests = [...new Set(rows.filter(isOf).map((row) => row.request))];
    if (requests.length > 0) {
      emptied += await database.write(async (tx) => {
        await tx.lock("app events", app);
        let count = 0;
        for (const named of requests) count += await emptyRequest(tx, app, named, noDevice);
        return count;
      });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_MAX) return emptied;
    [request, position] = [last.request, last.position];
  }
}
