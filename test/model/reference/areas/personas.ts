/** Personas of a page (A7, A8, D-41). */

import type { Failure } from "../errors.ts";
import { type Shape, select } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { Persona } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asText, characters, inBody, inQuery, parameter } from "../requests.ts";
import type { World } from "../world.ts";
import { PAGE_MESSAGING, pageShape, shownPage } from "./page-messaging.ts";

const shape: Shape = {
  fields: { id: true, name: true, profile_picture_url: true, page: pageShape },
  defaults: ["id", "name", "profile_picture_url"],
  always: ["id"],
};

const shown = (world: World, { page, ...persona }: Persona): unknown => ({ ...persona, page: shownPage(world, page) });

function listPersonas(turn: Turn): Reply | Failure[] {
  const { world, node } = turn;
  const rows = [...world.personas.values()].filter(({ page }) => page === node).map((one) => ({ key: BigInt(one.id), value: shown(world, one) }));
  return replyWithList(turn, { list: `listPersonas ${node}`, rows, shape });
}

function readText({ world, request, fail }: Turn, name: string, isRight: (text: string) => boolean): string | Failure {
  const given = parameter(request, name);
  if (inBody(request, name) !== undefined && inQuery(request, name) !== undefined) world.reach("personaPlaces");
  const text = asText(given);
  if (given === undefined) world.reach("missingParameter");
  return text !== undefined && isRight(text) ? text : fail("invalidParameter", { parameter: name });
}

function isPicture(world: World, text: string): boolean {
  const is = /^https?:\/\/[^/]/i.test(text) && URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) && text.length <= 2048;
  if (!is) world.reach("personaPicture");
  return is;
}

function isName(world: World, text: string): boolean {
  const is = characters(text) >= 1 && characters(text) <= 50;
  if (!is) world.reach("personaName");
  return is;
}

function createPersona(turn: Turn): Reply | Failure[] {
  const { world, node } = turn;
  const name = readText(turn, "name", (text) => isName(world, text.trim()));
  const picture = readText(turn, "profile_picture_url", (text) => isPicture(world, text));
  const selection = readSelection(turn, shape);
  const problems = [name, picture, selection].filter((one): one is Failure => typeof one === "object" && "error" in one);
  if (problems.length > 0 || typeof name !== "string" || typeof picture !== "string" || !isSelection(selection)) return problems;
  const persona: Persona = { id: turn.mint(), page: node, name: name.trim(), profile_picture_url: picture };
  world.personas.set(persona.id, persona);
  return success(selection === undefined ? { id: persona.id } : select(shown(world, persona), shape, selection));
}

function readPersona(turn: Turn): Reply {
  const selection = readSelection(turn, shape);
  return isSelection(selection) ? success(select(shown(turn.world, turn.world.personas.get(turn.node) as Persona), shape, selection)) : selection;
}

function deletePersona({ world, node }: Turn): Reply {
  world.personas.delete(node);
  return success({ success: true });
}

export const personaOperations: readonly Operation[] = [
  { ...PAGE_MESSAGING, name: "listPersonas", method: "GET", edge: "personas", on: "page", reply: listPersonas },
  { ...PAGE_MESSAGING, name: "createPersona", method: "POST", edge: "personas", on: "page", reply: createPersona },
  { ...PAGE_MESSAGING, name: "readPersona", method: "GET", edge: "", on: "persona", reply: readPersona },
  { ...PAGE_MESSAGING, name: "deletePersona", method: "DELETE", edge: "", on: "persona", reply: deletePersona },
];
