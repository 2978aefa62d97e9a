/** The routes that make, list, restore and delete the snapshots of a world, and that reset the world. */
import { type Static, Type } from "typebox";
import { conflict, notFound } from "#control-contract/errors";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { SNAPSHOT_NAME } from "#graph/worlds/hosting/world-slot";
import { StateOutdated } from "#storage/database";

const newSnapshot = Type.Object(
  { name: Type.String({ pattern: SNAPSHOT_NAME, description: "the name of the snapshot: letters, digits, - and _, 64 at most" }) },
  { additionalProperties: false },
);
const snapshotInList = Type.Object({ name: Type.String(), taken_at: Type.Integer({ description: "Unix seconds of real time" }) });

const worldOf = ({ path }: ControlRequest): string => path.w as string;

/** Throws an error if `result` is undefined, which means that the world does not exist. */
function found<T>(result: T | undefined, request: ControlRequest): T {
  if (result === undefined) throw notFound(`world ${worldOf(request)}`);
  return result;
}

async function takeSnapshot(request: ControlRequest<unknown, Static<typeof newSnapshot>>): Promise<unknown> {
  const { deps, body } = request;
  found(await deps.worlds.saveSnapshot(worldOf(request), body.name), request);
  return { name: body.name };
}

async function listSnapshots(request: ControlRequest): Promise<unknown> {
  const states = found(await request.deps.worlds.listSnapshots(worldOf(request)), request);
  return { data: states.map(({ name, saved_ms }) => ({ name, taken_at: Math.floor(saved_ms / 1_000) })), paging: {} };
}

async function deleteSnapshot(request: ControlRequest): Promise<void> {
  const { name = "" } = request.path;
  if (!found(await request.deps.worlds.deleteSnapshot(worldOf(request), name), request)) throw notFound(`snapshot ${name}`);
}

async function restoreSnapshot(request: ControlRequest): Promise<void> {
  const { name = "" } = request.path;
  try {
    if (!found(await request.deps.worlds.restoreSnapshot(worldOf(request), name), request)) throw notFound(`snapshot ${name}`);
  } catch (error) {
    if (error instanceof StateOutdated)
      throw conflict("another version of Plaza created the snapshot, so it cannot be restored: create a new one", "name");
    throw error;
  }
}

async function resetWorld(request: ControlRequest): Promise<void> {
  found(await request.deps.worlds.reset(worldOf(request)), request);
}

const SNAPSHOTS = "/v1/worlds/{w}/snapshots";
const isAboutWorld = true;

export const snapshotRoutes: readonly ControlRoute[] = [
  route(`POST ${SNAPSHOTS}`, "takeSnapshot", {
    summary: "Saves the state of the world under a name, and replaces an older snapshot of that name; recordings of live video are not included",
    body: newSnapshot,
    status: 201,
    response: Type.Object({ name: Type.String() }),
    isAboutWorld,
    handle: takeSnapshot,
  }),
  route(`GET ${SNAPSHOTS}`, "listSnapshots", {
    summary: "Lists the snapshots of a world",
    response: listOf(snapshotInList),
    isAboutWorld,
    handle: listSnapshots,
  }),
  route(`DELETE ${SNAPSHOTS}/{name}`, "deleteSnapshot", {
    summary: "Deletes a snapshot",
    isAboutWorld,
    handle: deleteSnapshot,
  }),
  route(`POST ${SNAPSHOTS}/{name}/restore`, "restoreSnapshot", {
    summary: "Restores the state of the world from a snapshot, including its time. Running requests end; faults and the request log are cleared",
    errors: [409],
    isAboutWorld,
    handle: restoreSnapshot,
  }),
  route("POST /v1/worlds/{w}/reset", "resetWorld", {
    summary:
      "Resets the world to its state when it was created. The world `default` gets the file of `--world` or the demo world of a sandbox, or is empty. Snapshots stay",
    isAboutWorld,
    handle: resetWorld,
  }),
];
