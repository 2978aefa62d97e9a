/** The routes that create, list, replace and revoke control keys (D-170). All times of control keys are real time. */
import { Type } from "typebox";
import { type ControlKeyRow, endControlKey, listControlKeys, lockKeysOfWorld, saveControlKey } from "#auth/control-keys.store";
import { hashOf } from "#auth/tokens";
import { conflict, notFound, unprocessable } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { DEFAULT_WORLD, hasWorld } from "#graph/worlds/hosting/worlds.store";
import { UNIX_SECONDS_MAX } from "#kernel/clock";
import { isNodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";

/** The size of a new control key: 192 bits. */
const KEY_BYTES = 24;
const NAME_CHARACTERS_MAX = 200;
/**
 * The time for which a replaced control key still works: a day, as for a replaced secret of an app (D-132). During this time the operator
 * can give the new key to all programs.
 */
const OVERLAP_SECONDS = 86_400;
export const OVERLAP_SECONDS_MAX = 30 * 86_400;

const access = Type.Union([Type.Literal("full"), Type.Literal("read")], { description: "`read`: only GET and HEAD" });
const keyInList = Type.Object({
  id: Type.String(),
  name: Type.String(),
  access,
  world: Type.Optional(Type.String({ description: "the only world that the key may read and change; left out: the key is for all worlds" })),
  created_at: Type.Integer({ description: "Unix seconds of real time" }),
  expires_at: Type.Integer({ description: "the key is refused after this time; 0: the key does not expire" }),
});
const newKey = Type.Object({
  ...keyInList.properties,
  key: Type.String({ description: "the value of the key; it is shown only here and cannot be read again" }),
});

const seconds = (ms: number): number => Math.floor(ms / 1_000);

const shown = ({ id, name, access: kind, world, created_ms, expires_ms }: ControlKeyRow) => ({
  ...{ id, name, access: kind, ...(world === "" ? {} : { world }), created_at: seconds(created_ms) },
  expires_at: Math.ceil(expires_ms / 1_000),
});

type NewKey = Pick<ControlKeyRow, "name" | "access" | "world" | "expires_ms">;

async function createKey(tx: Transaction, { deps, world }: ControlRequest, given: NewKey): Promise<Record<string, unknown>> {
  const key = world.randomSecret(KEY_BYTES);
  const row = { ...given, hash: hashOf(key), id: world.ids.mint(), created_ms: deps.realTime.nowMs() };
  await saveControlKey(tx, row);
  return { ...shown(row), key };
}

async function requireWorld(tx: Transaction, name: string): Promise<void> {
  await lockKeysOfWorld(tx, name);
  if (name !== DEFAULT_WORLD && !(await hasWorld(tx, name))) throw unprocessable(`there is no world ${name}`, "world");
}

async function replaceKey(request: ControlRequest, overlapSeconds: number): Promise<unknown> {
  const { deps, world, key } = request;
  const nowMs = deps.realTime.nowMs();
  const configured = { name: "configured", access: key.access, world: "", created_ms: nowMs, expires_ms: 0 };
  const old = key.stored ?? { hash: key.hash, id: world.ids.mint(), ...configured };
  const untilMs = nowMs + overlapSeconds * 1_000;
  const ended = { ...old, expires_ms: old.expires_ms === 0 ? untilMs : Math.min(old.expires_ms, untilMs) };
  const created = await world.database.write(async (tx) => {
    await saveControlKey(tx, ended);
    return createKey(tx, request, { name: old.name, access: old.access, world: old.world, expires_ms: 0 });
  });
  deps.onKeyReplaced?.(old.hash, String(created.key));
  return { ...created, replaced: shown(ended) };
}

async function endKey({ deps, world, path, key }: ControlRequest): Promise<void> {
  const id = path.id as string;
  if (key.stored?.id === id) throw conflict("a key cannot revoke itself, so that at least one key is left: use another key", "id");
  const isEnded = isNodeId(id) && (await world.database.write((tx) => endControlKey(tx, id, deps.realTime.nowMs())));
  if (!isEnded) throw notFound(`control key ${id} that is still valid`);
}

const KEYS = "/v1/control-keys";

export const keyRoutes: readonly ControlRoute[] = [
  route(`POST ${KEYS}`, "createControlKey", {
    summary: "Creates a control key, e.g. a read-only one. Only this response shows the value, because Plaza stores only its hash",
    body: Type.Object(
      {
        access,
        name: Type.Optional(Type.String({ maxLength: NAME_CHARACTERS_MAX, description: "the purpose of the key" })),
        world: Type.Optional(
          Type.String({
            minLength: 1,
            description: "binds the key to this world: the key may read and change only this world, and ends when the world is deleted",
          }),
        ),
        expires_at: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: UNIX_SECONDS_MAX,
            description: "Unix seconds at which the key expires; 0 or left out: the key does not expire",
          }),
        ),
      },
      { additionalProperties: false },
    ),
    status: 201,
    response: newKey,
    errors: [422],
    handle: async (request) => {
      const { access: kind, name = "", world = "", expires_at = 0 } = request.body;
      if (expires_at !== 0 && expires_at * 1_000 <= request.deps.realTime.nowMs()) throw unprocessable("expires_at is in the past", "expires_at");
      return request.world.database.write(async (tx) => {
        if (world !== "") await requireWorld(tx, world);
        return createKey(tx, request, { name, access: kind, world, expires_ms: expires_at * 1_000 });
      });
    },
  }),
  route(`GET ${KEYS}`, "listControlKeys", {
    summary: "Lists the control keys that were created or replaced, also expired ones, without their values, the newest first",
    query: pageQuery,
    response: listOf(keyInList),
    handle: (request) => respondWithList(request, "control keys", (page, world) => listControlKeys(world.database.reader, page), shown),
  }),
  route(`POST ${KEYS}/rotate`, "rotateControlKey", {
    summary:
      "Replaces the control key with which the request is sent. The old key stays valid for the overlap and is refused afterwards, also after a restart",
    body: Type.Object(
      {
        overlap_seconds: Type.Integer({
          minimum: 0,
          maximum: OVERLAP_SECONDS_MAX,
          default: OVERLAP_SECONDS,
          description: "how long both keys are valid; 0: the old key ends at once",
        }),
      },
      { additionalProperties: false },
    ),
    status: 201,
    response: Type.Object({ ...newKey.properties, replaced: keyInList }),
    servesBoundKeys: true,
    handle: (request) => replaceKey(request, request.body.overlap_seconds),
  }),
  route(`DELETE ${KEYS}/{id}`, "revokeControlKey", {
    summary: "Revokes a control key at once, in all processes",
    errors: [409],
    handle: endKey,
  }),
];
