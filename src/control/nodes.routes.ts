/** Any key of the world file, one node at a time. */
import { Type } from "typebox";
import { entryReader } from "#graph/entry-reader";
import type { WorldEntry, WorldSection } from "#graph/room";
import { checkReferences, hasIdentity, identityOf, sectionsOf } from "#graph/world-file";
import { WorldProblem } from "#graph/world-words";
import { isNodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { badRequest, conflict, notFound, unprocessable } from "./errors.ts";
import { answerList, pageQuery } from "./lists.ts";
import { type ControlCall, type ControlRoute, route } from "./routes.ts";

function sectionOf({ house, path }: ControlCall): WorldSection {
  const section = sectionsOf(house.registry).find(({ key }) => key === path.key);
  if (section === undefined) throw notFound(`kind of node called ${path.key}`);
  return section;
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Missing and wrong references are told from a malformed entry: the one is 422, the other 400. */
async function requireReferences(tx: Transaction, section: WorldSection, entry: WorldEntry): Promise<void> {
  try {
    await checkReferences(tx, section.references(entry), "");
  } catch (error) {
    throw error instanceof WorldProblem ? unprocessable(error.message, error.path) : error;
  }
}

async function createNode(call: ControlCall): Promise<unknown> {
  const section = sectionOf(call);
  const { world, body } = call;
  if (!isMap(body)) throw badRequest("the body is one entry, a JSON object");
  const isMinted = section.identity === undefined && body.id === undefined;
  return world.database.write(async (tx) => {
    const given = isMinted ? { ...body, id: (await section.mintId?.(tx, world)) ?? world.ids.mint() } : body;
    const entry = entryReader(section.entry)(given) as WorldEntry;
    const id = identityOf(section, entry);
    if (!(await section.insert(tx, entry, world))) throw conflict(`${id} is taken`, section.identity?.[0] ?? "id");
    await requireReferences(tx, section, entry);
    return (await section.find(tx, id, world)) ?? entry;
  });
}

async function readNode(call: ControlCall): Promise<unknown> {
  const section = sectionOf(call);
  const found = await section.find(call.world.database.reader, idOf(call), call.world);
  if (found === undefined) throw missing(call);
  return found;
}

/** What is no id at all is not asked of a database, which would refuse to compare it. */
function idOf(call: ControlCall): string {
  const id = call.path.id as string;
  const section = sectionOf(call);
  if (!hasIdentity(section) || (section.identity === undefined && !isNodeId(id))) throw missing(call);
  return id;
}

const missing = ({ path }: ControlCall) => notFound(`node ${path.id} among ${path.key}`);

/** Keys that the body names are laid over the stored entry; null takes one back to what it is when not given. */
function updateNode(call: ControlCall): Promise<unknown> {
  const section = sectionOf(call);
  const { world, body } = call;
  const id = idOf(call);
  if (!isMap(body)) throw badRequest("the body is a JSON object with the keys to change");
  return world.database.write(async (tx) => {
    const stored = await section.find(tx, id, world);
    if (stored === undefined) throw missing(call);
    const entry = entryReader(section.entry)({ ...stored, ...body }) as WorldEntry;
    if (identityOf(section, entry) !== identityOf(section, stored)) throw badRequest("an id cannot be changed", section.identity?.[0] ?? "id");
    await section.replace(tx, entry, world);
    await requireReferences(tx, section, entry);
    return section.find(tx, id, world);
  });
}

async function deleteNode(call: ControlCall): Promise<unknown> {
  const section = sectionOf(call);
  const { world, house } = call;
  const id = idOf(call);
  const isGone = await world.database.write(async (tx) => {
    if (!(await section.remove(tx, id, world))) return false;
    // What other rooms keep below a page, app or account goes with it.
    if (!isNodeId(id)) return true;
    for (const room of house.registry.rooms) await room.forgetOwner?.(tx, id, world);
    await world.tokens.forgetNode(tx, id);
    return true;
  });
  if (!isGone) throw missing(call);
  return { success: true };
}

const NODES = "/v1/worlds/{w}/nodes/{key}";

export const nodeRoutes: readonly ControlRoute[] = [
  {
    method: "POST",
    path: NODES,
    operation: "createNode",
    summary: "Makes a node. An id is minted where none is given; every reference must exist (422)",
    body: "entry",
    status: 201,
    answer: "entry",
    errors: [404, 409, 413, 422],
    handle: createNode,
  },
  route({
    method: "GET",
    path: NODES,
    operation: "listNodes",
    summary: "Lists the nodes of one key",
    query: pageQuery,
    answer: "entries",
    errors: [404],
    handle: (call) => {
      const section = sectionOf(call);
      return answerList(
        call,
        section.key,
        (page, world) => section.list(world.database.reader, page, world),
        (entry) => entry,
      );
    },
  }),
  {
    method: "GET",
    path: `${NODES}/{id}`,
    operation: "readNode",
    summary: "One node, as a world file would say it",
    answer: "entry",
    errors: [404],
    handle: readNode,
  },
  {
    method: "PATCH",
    path: `${NODES}/{id}`,
    operation: "updateNode",
    summary: "Changes the keys that the body names; null takes a key back to what it is when not given",
    body: "entry",
    answer: "entry",
    errors: [404, 413, 422],
    handle: updateNode,
  },
  {
    method: "DELETE",
    path: `${NODES}/{id}`,
    operation: "deleteNode",
    summary: "Deletes a node, and what hangs on it",
    answer: Type.Object({ success: Type.Boolean() }),
    errors: [404],
    handle: deleteNode,
  },
];
