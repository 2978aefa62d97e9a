import type { Static } from "typebox";
import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import { invalidParameter } from "#kernel/errors";
import { codePointCount } from "#kernel/text";
import type { Reader, Transaction } from "#storage/database";
import { type createPersona, PERSONA_NAME_CHARACTERS_MAX } from "./personas.contract.ts";
import { deletePersona, insertPersona, listPersonasOfPage } from "./personas.store.ts";

export const handleListPersonas = (request: ListRequest, reader: Reader) => listPersonasOfPage(reader, request.node.id, request.page);

export async function handleCreatePersona(request: OperationRequest<Static<typeof createPersona.params>>, tx: Transaction) {
  const { node, params, world } = request;
  const name = params.name.trim();
  const length = codePointCount(name);
  if (length === 0) throw invalidParameter("name", "must not be empty");
  if (length > PERSONA_NAME_CHARACTERS_MAX) throw invalidParameter("name", `must have at most ${PERSONA_NAME_CHARACTERS_MAX} characters`);
  if (!isWebAddress(params.profile_picture_url)) throw invalidParameter("profile_picture_url", "must be an http or https address");
  const persona = { name, profile_picture_url: params.profile_picture_url };
  return { id: await insertMinted(world.ids, (id) => insertPersona(tx, node.id, id, persona)) };
}

/** D-41: a picture address is stored as sent and must be an absolute http(s) address. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

export async function handleDeletePersona(request: OperationRequest, tx: Transaction) {
  if (!(await deletePersona(tx, request.node.owner, request.node.id))) throw notFoundNode(request);
  return { success: true };
}
