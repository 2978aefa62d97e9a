/** The routes that create, list, read, change and delete the nodes of each key of the world file. */
import { Type } from "typebox";
import { badRequest, conflict, notFound, unprocessable } from "#control-contract/errors";
import { pageQuery, respondWithList } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { requireMigrations } from "#graph/versions/calendar";
import { beginErasure } from "#graph/worlds/erasure/erasure";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { checkReferences, hasIdentity, identityOf, sectionsOf, withoutSecrets } from "#graph/worlds/file/import-export";
import { WorldProblem } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { type OpenWorld, removeNode } from "#graph/worlds/open-world";
import { isNodeId } from "#kernel/ids";
import { suggestion } from "#kernel/suggestion";
import type { Transaction } from "#storage/database";

function sectionOf({ deps, path }: ControlRequest): WorldSection {
  const sections = sectionsOf(deps.registry);
  const section = sections.find(({ key }) => key === path.key);
  if (section === undefined) {
    const known = sections.map(({ key }) => key);
    throw notFound(`kind of node ${path.key}${suggestion(path.key ?? "", known)}`);
  }
  return section;
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Throws unless all nodes exist to which an entry refers. Throws an error with status 422 for a missing or wrong reference, and
 * with 400 for a malformed entry.
 */
async function requireReferences(tx: Transaction, section: WorldSection, entry: WorldEntry, world: OpenWorld): Promise<void> {
  try {
    await checkReferences(tx, section.references(entry), "");
    requireMigrations(section.migrationNames?.(entry) ?? [], "migrations", world.calendar);
  } catch (error) {
    throw error instanceof WorldProblem ? unprocessable(error.message, error.path) : error;
  }
}

/** Makes an id that no node has. The function checks each generated id, because a world file may already have used that id. */
async function mintFreeId(tx: Transaction, section: WorldSection, world: OpenWorld): Promise<string> {
  if (section.mintId !== undefined) return section.mintId(tx, world);
  for (;;) {
    const id = world.ids.mint();
    if ((await findNode(tx, id)) === undefined) return id;
  }
}

async function createNode(request: ControlRequest): Promise<unknown> {
  const section = sectionOf(request);
  const { world, body } = request;
  if (!isMap(body)) throw badRequest("the body must be one entry, a JSON object");
  const isMinted = section.identity === undefined && body.id === undefined;
  return world.database.write(async (tx) => {
    const given = isMinted ? { ...body, id: await mintFreeId(tx, section, world) } : body;
    const entry = entryReader(section.entry)(given) as WorldEntry;
    const id = identityOf(section, entry);
    if (!(await section.insert(tx, entry, world))) throw conflict(`the id ${id} exists already: choose another id`, section.identity?.[0] ?? "id");
    await requireReferences(tx, section, entry, world);
    return (await section.find(tx, id, world)) ?? entry;
  });
}

async function readNode(request: ControlRequest): Promise<unknown> {
  const section = sectionOf(request);
  const found = await section.find(request.world.database.reader, idOf(request), request.world);
  if (found === undefined) throw missing(request);
  return shownTo(request, section, found);
}

const shownTo = ({ key }: ControlRequest, section: WorldSection, entry: WorldEntry): WorldEntry =>
  key.access === "read" ? withoutSecrets(section, entry) : entry;

/** Reads the id in the request's path. Throws if the text is not an id, because the database could not compare such text with ids. */
function idOf(request: ControlRequest): string {
  const id = request.path.id as string;
  const section = sectionOf(request);
  if (!hasIdentity(section) || (section.identity === undefined && !isNodeId(id))) throw missing(request);
  return id;
}

const missing = ({ path }: ControlRequest) => notFound(`node ${path.id} among ${path.key}`);

/** Changes a node. The keys of the request body replace the same keys of the stored entry; the value null restores a key's default. */
function updateNode(request: ControlRequest): Promise<unknown> {
  const section = sectionOf(request);
  const { world, body } = request;
  const id = idOf(request);
  if (!isMap(body)) throw badRequest("the body must be a JSON object with the keys to change");
  return world.database.write(async (tx) => {
    const stored = await section.find(tx, id, world);
    if (stored === undefined) throw missing(request);
    const entry = entryReader(section.entry)({ ...stored, ...body }) as WorldEntry;
    if (identityOf(section, entry) !== identityOf(section, stored)) throw badRequest("an id cannot be changed", section.identity?.[0] ?? "id");
    await section.replace(tx, entry, world);
    await requireReferences(tx, section, entry, world);
    return section.find(tx, id, world);
  });
}

async function deleteNode(request: ControlRequest): Promise<unknown> {
  const section = sectionOf(request);
  const { world } = request;
  const id = idOf(request);
  return world.database.write(async (tx) => {
    if (!(await removeNode(tx, request.deps.registry, world, section, id))) throw missing(request);
    // D-172: a user is a person, so after a user is deleted, all stored traces of the person are erased.
    return section.key === "users" ? { success: true, erasure: await beginErasure(tx, world, [id], { users: 1 }) } : { success: true };
  });
}

/** D-263: whether the nodes of the world file's key in the path have secrets. Apps are the only nodes with secrets. */
const hasSecrets = ({ key }: Readonly<Record<string, string>>): boolean => key === "apps";

const NODES = "/v1/worlds/{w}/nodes/{key}";

export const nodeRoutes: readonly ControlRoute[] = [
  route(`POST ${NODES}`, "createNode", {
    summary: "Creates a node, with a new id if the body has none. Every node to which the body refers must exist (422)",
    body: "entry",
    status: 201,
    response: "entry",
    errors: [409, 422],
    handle: createNode,
  }),
  route(`GET ${NODES}`, "listNodes", {
    summary: "Lists the nodes of one key of the world file",
    query: pageQuery,
    response: "entries",
    readsSecrets: hasSecrets,
    handle: (request) => {
      const section = sectionOf(request);
      return respondWithList(
        request,
        section.key,
        (page, world) => section.list(world.database.reader, page, world),
        (entry) => shownTo(request as ControlRequest, section, entry),
      );
    },
  }),
  route(`GET ${NODES}/{id}`, "readNode", {
    summary: "Reads a node as an entry of a world file",
    response: "entry",
    readsSecrets: hasSecrets,
    handle: readNode,
  }),
  route(`PATCH ${NODES}/{id}`, "updateNode", {
    summary: "Changes those keys of a node that the body has; null restores the default of a key",
    body: "entry",
    response: "entry",
    errors: [409, 422],
    handle: updateNode,
  }),
  route(`DELETE ${NODES}/{id}`, "deleteNode", {
    summary: "Deletes a node and everything below it. A user is erased as well, as `DELETE /v1/worlds/{w}/people/{id}` erases a person",
    response: Type.Object({ success: Type.Boolean(), erasure: Type.Optional(Type.String({ description: "for a user: the id of the erasure" })) }),
    handle: deleteNode,
  }),
];
