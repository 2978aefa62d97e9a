/** Labels of a page and of its people (A1 to A6, D-36, D-40, D-82, D-135). */

import type { Failure } from "../errors.ts";
import { type Shape, select } from "../fields.ts";
import { replyWithList } from "../lists.ts";
import type { Label } from "../nodes.ts";
import { isSelection, type Operation, readSelection, type Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asText, characters, inBody, inQuery, parameter } from "../requests.ts";
import { isMigrated } from "../versions.ts";
import { pageOfPerson, type World } from "../world.ts";
import { emitOfPage, PAGE_MESSAGING, pageShape, shownPage } from "./page-messaging.ts";

/** D-36: a label is shown in one of two forms. In the response profile `clients`, the fields `name` and `page_label_name` have the same value. */
function shapeOf({ profile }: World, own: "name" | "page_label_name"): Shape {
  const names = profile === "clients" ? ["id", "name", "page_label_name"] : ["id", own];
  return { fields: { ...Object.fromEntries(names.map((name) => [name, true as const])), page: pageShape }, defaults: names, always: ["id"] };
}

const shown = (world: World, { id, name, page }: Label): unknown => ({ id, name, page_label_name: name, page: shownPage(world, page) });

function listLabels(turn: Turn, labels: readonly Label[]): Reply | Failure[] {
  const { world, operation, node } = turn;
  if (parameter(turn.request, "fields")?.toString().includes("{")) world.reach("nestedField");
  const rows = labels.map((label) => ({ key: BigInt(label.id), value: shown(world, label) }));
  return replyWithList(turn, { list: `${operation.name} ${node}`, rows, shape: shapeOf(world, "name") });
}

/**
 * Reads a parameter that is accepted only in the query or only in the body. In the response profile `clients`, parameters are accepted both in the
 * query and in the body.
 */
function placed({ world, request, fail }: Turn, names: readonly string[], place: "body" | "query"): string | Failure {
  const [name = ""] = names;
  const given = (read: typeof inBody) => names.map((one) => read(request, one)).filter((value) => value !== undefined);
  // D-311: the query or the body must not have the parameter under two names.
  if ([inBody, inQuery].some((read) => new Set(given(read).map(asText)).size > 1)) return fail("invalidParameter", { parameter: name });
  const first = (read: typeof inBody): unknown => given(read)[0];
  const [body, query] = [first(inBody), first(inQuery)];
  const other = place === "body" ? query : body;
  const own = (place === "body" ? body : query) ?? (world.profile === "clients" ? other : undefined);
  const text = asText(own);
  if (other !== undefined && other !== own) world.reach("labelPlace");
  if (own === undefined) world.reach("missingParameter");
  else if (text === undefined) world.reach("textType");
  if (typeof own === "number") world.reach("textForNumber");
  if (text === undefined || (other !== undefined && asText(other) !== text)) return fail("invalidParameter", { parameter: name });
  return text;
}

function readName(turn: Turn): string | Failure {
  const given = placed(turn, turn.world.profile === "clients" ? ["page_label_name", "name"] : ["page_label_name"], "body");
  if (typeof given !== "string") return withAnyName(turn, given);
  const name = given.trim();
  if (characters(name) >= 1 && characters(name) <= 80) return name;
  turn.world.reach("labelName");
  return withAnyName(turn, turn.fail("invalidParameter", { parameter: "page_label_name" }));
}

/** The error. In the response profile `clients`, the error may call the parameter by the name that the request used. */
function withAnyName({ world, request, fail }: Turn, failure: Failure): Failure {
  return world.profile === "clients" && parameter(request, "name") !== undefined ? fail("invalidParameter") : failure;
}

/** D-82: folds the case of one character by full case folding. */
const foldCharacter = (character: string): string => (character === "ı" ? character : character.toLowerCase().toUpperCase().toLowerCase());

function createLabel(turn: Turn): Reply | Failure[] {
  const { world, node, tokens, fail } = turn;
  const name = readName(turn);
  const shape = shapeOf(world, "name");
  const selection = readSelection(turn, shape);
  const problems = [name, selection].filter((one): one is Failure => typeof one === "object" && "error" in one);
  if (problems.length > 0 || typeof name !== "string" || !isSelection(selection)) return problems;
  const isFolded = isMigrated(world, tokens[0].app, "label_names_case_insensitive", turn.request);
  const folded = (text: string): string => (isFolded ? Array.from(text, foldCharacter).join("") : text);
  const first = [...world.labels.values()].find((label) => label.page === node && folded(label.name) === folded(name));
  if (first !== undefined) {
    world.reach(first.name === name ? "labelTwice" : "labelFolded");
    return fail("invalidParameter", { label_id: first.id });
  }
  if (selection !== undefined) world.reach("writeWithFields");
  const label: Label = { id: turn.mint(), page: node, name, users: new Set() };
  world.labels.set(label.id, label);
  emitOfPage(world, node, "custom_labels", { action: "created", label: { id: label.id, name } });
  return success(select(shown(world, label), shape, selection));
}

function deleteLabel({ world, node }: Turn): Reply {
  const { id, name, page, users } = world.labels.get(node) as Label;
  if (users.size > 0) world.reach("labelDeleteDetaches");
  world.labels.delete(id);
  emitOfPage(world, page, "custom_labels", { action: "deleted", label: { id, name } });
  return success({ success: true });
}

function readLabel(turn: Turn): Reply {
  const { world, node } = turn;
  const shape = shapeOf(world, "page_label_name");
  const selection = readSelection(turn, shape);
  return isSelection(selection) ? success(select(shown(world, world.labels.get(node) as Label), shape, selection)) : selection;
}

/** The operations A5 and A6, which attach a label to a person and detach it. */
function changePerson(turn: Turn, place: "body" | "query", action: "attached" | "detached"): Reply | Failure[] {
  const { world, node, fail } = turn;
  const user = placed(turn, ["user"], place);
  if (typeof user !== "string") return user;
  const { id, name, page, users } = world.labels.get(node) as Label;
  if (pageOfPerson(world, user)?.id !== page) {
    world.reach("unknownPerson");
    // A text that is not an id is both a wrong value and an unknown person, so either error is possible.
    return /^[1-9]\d*$/.test(user) ? fail("unknownUser") : [fail("unknownUser"), fail("invalidParameter", { parameter: "user" })];
  }
  if (users.has(user) === (action === "attached")) {
    world.reach(action === "attached" ? "labelAttachTwice" : "labelDetachNothing");
    return success({ success: true });
  }
  if (action === "attached") users.add(user);
  else users.delete(user);
  emitOfPage(world, page, "custom_labels", { action, label: { id, name }, user: { id: user } });
  return success({ success: true });
}

const labelsWhere = (world: World, is: (label: Label) => boolean): Label[] => [...world.labels.values()].filter(is);

export const labelOperations: readonly Operation[] = [
  {
    ...{ ...PAGE_MESSAGING, name: "listLabels", method: "GET", edge: "custom_labels", on: "page" },
    reply: (turn) =>
      listLabels(
        turn,
        labelsWhere(turn.world, ({ page }) => page === turn.node),
      ),
  },
  {
    ...{ ...PAGE_MESSAGING, name: "listLabelsOfUser", method: "GET", edge: "custom_labels", on: "page_person" },
    reply: (turn) =>
      listLabels(
        turn,
        labelsWhere(turn.world, ({ users }) => users.has(turn.node)),
      ),
  },
  { ...PAGE_MESSAGING, name: "createLabel", method: "POST", edge: "custom_labels", on: "page", reply: createLabel },
  { ...PAGE_MESSAGING, name: "readLabel", method: "GET", edge: "", on: "label", reply: readLabel },
  { ...PAGE_MESSAGING, name: "deleteLabel", method: "DELETE", edge: "", on: "label", reply: deleteLabel },
  { ...PAGE_MESSAGING, name: "attachLabel", method: "POST", edge: "label", on: "label", reply: (turn) => changePerson(turn, "body", "attached") },
  { ...PAGE_MESSAGING, name: "detachLabel", method: "DELETE", edge: "label", on: "label", reply: (turn) => changePerson(turn, "query", "detached") },
];
