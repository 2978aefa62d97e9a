/** The routes that erase people: a job deletes all stored data about a person and makes a report of the deletion (D-172). */
import { Type } from "typebox";
import { badRequest, conflict, notFound } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { Erased } from "#graph/contract/feature";
import { beginErasure } from "#graph/worlds/erasure/erasure";
import { type ErasureRow, findErasure, listErasures } from "#graph/worlds/erasure/erasures.store";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { findNode } from "#graph/worlds/nodes.store";
import { removeNode } from "#graph/worlds/open-world";
import { isNodeId } from "#kernel/ids";
import { certain, type Transaction } from "#storage/database";

/** The shortest id of a person. Ids that are shorter would also be found by chance in many records about other people. */
const ID_CHARACTERS_MIN = 4;
const ID_CHARACTERS_MAX = 500;

/** The node types of people, each with its key in a world file. */
const peopleKeys: Readonly<Record<string, string>> = { user: "users", social_account: "social_accounts", microblog_user: "microblog_users" };

const erasure = Type.Object({
  id: Type.String(),
  status: Type.Union([Type.Literal("running"), Type.Literal("done")]),
  started_at: Type.Integer({ description: "Unix seconds of world time" }),
  ended_at: Type.Optional(Type.Integer()),
  erased: Type.Record(Type.String(), Type.Integer(), { description: "the number of records that were deleted or emptied, by kind" }),
});

const shown = ({ id, started_ms, ended_ms, erased }: ErasureRow) => ({
  ...{ id, status: ended_ms === null ? "running" : "done", started_at: Math.floor(started_ms / 1_000) },
  ...(ended_ms === null ? {} : { ended_at: Math.floor(ended_ms / 1_000) }),
  erased: JSON.parse(erased) as Erased,
});

async function erasePerson(request: ControlRequest): Promise<unknown> {
  const { world, path } = request;
  const id = path.id as string;
  if (id.length < ID_CHARACTERS_MIN || id.length > ID_CHARACTERS_MAX)
    throw badRequest(`id must have from ${ID_CHARACTERS_MIN} to ${ID_CHARACTERS_MAX} characters`, "id");
  const begun = await world.database.write(async (tx) => {
    const { ids, erased } = await removeNodeOf(request, tx, id);
    return findErasure(tx, await beginErasure(tx, world, ids, erased));
  });
  return shown(begun as ErasureRow);
}

/** Removes the node of a person, if the person has a node. Returns all ids of the person, because an account has a second id, which pages use. */
async function removeNodeOf(request: ControlRequest, tx: Transaction, id: string): Promise<{ ids: readonly string[]; erased: Erased }> {
  const node = isNodeId(id) ? await findNode(tx, id) : undefined;
  // A person of a page has no node to remove, so the erasure changes the page's entry instead.
  if (node === undefined || node.type === "page_person") return { ids: [id], erased: {} };
  const key = peopleKeys[node.type];
  const section = sectionsOf(request.deps.registry).find((known) => known.key === key);
  if (section === undefined) throw conflict(`${id} is a node of type ${node.type}, which is not a person`, "id");
  const { social_scoped_id } = (await section.find(tx, id, request.world)) ?? {};
  await certain(removeNode(tx, request.deps.registry, request.world, section, id), "remove the person's node");
  return { ids: typeof social_scoped_id === "string" ? [id, social_scoped_id] : [id], erased: { [section.key.replaceAll("_", " ")]: 1 } };
}

const WORLD = "/v1/worlds/{w}";

export const peopleRoutes: readonly ControlRoute[] = [
  route(`DELETE ${WORLD}/people/{id}`, "erasePerson", {
    summary:
      "Erases everything about a person in the background: nodes, roles, labels, comments, app events, and webhooks with the bodies that were delivered. The id may be any id of the person: a user, an account, a PSID, a device, a telephone number. Send the request once for each id",
    response: erasure,
    errors: [400, 409],
    handle: erasePerson,
  }),
  route(`GET ${WORLD}/erasures/{id}`, "readErasure", {
    summary: "Counts the records that an erasure has erased, by kind. The report does not name the person",
    response: erasure,
    async handle({ world, path }) {
      const id = path.id as string;
      const found = isNodeId(id) ? await findErasure(world.database.reader, id) : undefined;
      if (found === undefined) throw notFound(`erasure ${id}`);
      return shown(found);
    },
  }),
  route(`GET ${WORLD}/erasures`, "listErasures", {
    summary: "Lists the erasures of people, the newest first",
    query: pageQuery,
    response: listOf(erasure),
    handle: (request) => respondWithList(request, "erasures", (page, world) => listErasures(world.database.reader, page), shown),
  }),
];
