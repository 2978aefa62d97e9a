/** The routes that show and replace the key that seals stored secrets (D-171). */
import { Type } from "typebox";
import { conflict } from "#control-contract/errors";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { masterKeyId } from "#storage/sealing";
import { OVERLAP_SECONDS_MAX } from "./keys.ts";

/**
 * The time for which the key file contains a replaced key: a week. With the current key file, the secrets in backups of the
 * last week can still be opened.
 */
const OVERLAP_SECONDS = 7 * 86_400;
/**
 * The shortest time for which the key file can contain a replaced key. The minimum is a minute, because a write that began with
 * the old key has ended by then.
 */
const OVERLAP_SECONDS_MIN = 60;

const state = Type.Object({
  key_id: Type.String({ description: "an id that distinguishes this key from others and reveals nothing else about it" }),
  previous: Type.Array(
    Type.Object({
      key_id: Type.String(),
      valid_until: Type.Integer({ description: "Unix seconds of real time; 0: until the key is removed from PLAZA_FURTHER_SECRET_KEYS" }),
    }),
    { description: "older keys, which still open the values and cursors that they sealed or signed" },
  ),
  waiting: Type.Integer({ description: "the number of values in open worlds that are still sealed with an older key" }),
});

async function stateOf({ deps, world }: ControlRequest): Promise<unknown> {
  const { current, previous } = world.keys;
  let waiting = 0;
  for (const open of deps.worlds.open()) waiting += await open.ports.get("sealed_values").countOthers(open.database.reader, open);
  return {
    key_id: masterKeyId(current),
    previous: previous.map(({ key, untilMs }) => ({ key_id: masterKeyId(key), valid_until: untilMs === undefined ? 0 : Math.ceil(untilMs / 1_000) })),
    waiting,
  };
}

async function rotate(request: ControlRequest, overlapSeconds: number): Promise<unknown> {
  const { deps, world } = request;
  if (!world.keys.isOwn) {
    throw conflict(
      "the sealing key is part of the configuration: start the server with a new PLAZA_SECRET_KEY, and with the present key in PLAZA_FURTHER_SECRET_KEYS until `waiting` is 0",
    );
  }
  world.keys.rotate(deps.realTime.nowMs() + overlapSeconds * 1_000);
  // Only open worlds begin to use the new key here, because a closed world seals its secrets with the new key when it opens.
  for (const open of deps.worlds.open()) {
    open.useKeys();
    await open.database.write((tx) => open.ports.get("sealed_values").schedule(tx, open));
  }
  return stateOf(request);
}

const SEALING_KEY = "/v1/sealing-key";

export const sealingKeyRoutes: readonly ControlRoute[] = [
  route(`GET ${SEALING_KEY}`, "readSealingKey", {
    summary: "Lists the ids of the keys that seal stored secrets, and counts the secrets that are still sealed with an older key",
    response: state,
    handle: stateOf,
  }),
  route(`POST ${SEALING_KEY}/rotate`, "rotateSealingKey", {
    summary:
      "Replaces the sealing key in the file of the data folder. A background job seals all stored secrets with the new key; when the job is done and the overlap has passed, the old key is deleted from the file",
    body: Type.Object(
      {
        overlap_seconds: Type.Integer({
          minimum: OVERLAP_SECONDS_MIN,
          maximum: OVERLAP_SECONDS_MAX,
          default: OVERLAP_SECONDS,
          description: "the time for which the old key still opens secrets and cursors",
        }),
      },
      { additionalProperties: false },
    ),
    response: state,
    errors: [409],
    handle: (request) => rotate(request, request.body.overlap_seconds),
  }),
];
