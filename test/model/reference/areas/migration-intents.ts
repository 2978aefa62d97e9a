/** Migration intents (H7, D-58, D-121). */

import type { Failure } from "../errors.ts";
import { objectShape, parseFields, type Selection, type Shape, select, WITHOUT_BRACES } from "../fields.ts";
import type { MigrationIntent } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asText, parameter } from "../requests.ts";
import type { Profile, World } from "../world.ts";
import { mayChangeAccount } from "./chatapp.ts";

const account: Shape = { ...objectShape("id", "name"), defaults: ["id"], always: ["id"] };
const solution: Shape = { ...objectShape("id"), always: ["id"] };
const shape: Shape = {
  fields: { id: true, status: true, destination_waba: account, solution, waba: account },
  defaults: ["solution", "status", "destination_waba"],
  always: ["id", "status"],
};

/**
 * Names of fields that other nodes have. Histories select these names on an intent, although an intent has no such fields.
 */
const OF_OTHER_NODES: ReadonlySet<string> = new Set(["name", "username", "title", "caption"]);

/** The problems of a selection of fields, at this depth and below. */
function problemsOf(selection: Selection, { fields }: Shape, profile: Profile, isAccount = false): ("fieldUnavailable" | "invalidParameter")[] {
  return [...selection].flatMap(([name, inner]) => {
    if (name === WITHOUT_BRACES) return [];
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // D-38, D-163: inside an account, an unknown name is refused or left out as in a read of the account itself.
    if (field === undefined && isAccount && profile === "clients") return [];
    if (field === undefined) return [OF_OTHER_NODES.has(name) && !isAccount ? ("fieldUnavailable" as const) : ("invalidParameter" as const)];
    if (inner === undefined) return [];
    return field === true ? ["invalidParameter" as const] : problemsOf(inner, field, profile, field === account);
  });
}

/** D-38: an account of an intent shows what the caller's own read of the account would show, or only its id. */
function shownAccount(world: World, id: string | undefined, app: string): { id: string; name?: string } | undefined {
  if (id === undefined) return undefined;
  const { name, subscribed_apps } = world.chatapp_accounts.get(id) ?? {};
  return name !== undefined && subscribed_apps?.has(app) ? { id, name } : { id };
}

function readIntent({ world, request, node, tokens, fail }: Turn): Reply | Failure[] {
  const text = asText(parameter(request, "fields"));
  const selection = text === undefined ? undefined : parseFields(text);
  if (text !== undefined && selection === undefined) return fail("invalidParameter", { parameter: "fields" });
  const problems = selection === undefined ? [] : problemsOf(selection, shape, world.profile);
  if (problems.includes("fieldUnavailable")) world.reach("fieldOfOthers");
  if (problems.length > 0) return problems.map((error) => fail(error));
  const { id, status, waba, destination_waba, solution: solutionId } = world.migration_intents.get(node) as MigrationIntent;
  const { app } = tokens[0];
  const shown = {
    ...{ id, status, waba: shownAccount(world, waba, app), destination_waba: shownAccount(world, destination_waba, app) },
    solution: solutionId === undefined ? undefined : { id: solutionId },
  };
  return success(select(shown, shape, selection));
}

function setIntent({ world, request, node, tokens, fail, mint }: Turn): Reply | Failure[] {
  const solutionId = asText(parameter(request, "solution_id"));
  const destination = asText(parameter(request, "destination_waba"));
  const problems: Failure[] = [];
  // D-306: the solution belongs to the app, or an intent of the account refers to it.
  const ofIntent = [...world.migration_intents.values()].some(
    ({ waba, destination_waba, solution }) => solution === solutionId && (waba === node || destination_waba === node),
  );
  const found = world.solutions.get(solutionId ?? "");
  if (solutionId === undefined || found === undefined || (found.owner_app !== tokens[0].app && !ofIntent)) {
    world.reach("intentSolution");
    problems.push(fail("invalidParameter", { parameter: "solution_id" }));
  }
  const isOther =
    destination !== undefined &&
    destination !== node &&
    world.chatapp_accounts.get(destination)?.subscribed_apps.has(tokens[0].app) === true &&
    mayChangeAccount(world, tokens[0], destination);
  if (destination !== undefined && !isOther) {
    world.reach("intentDestination");
    problems.push(fail("invalidParameter", { parameter: "destination_waba" }));
  }
  if (problems.length > 0 || solutionId === undefined) return problems;
  const id = mint();
  world.migration_intents.set(id, {
    ...{ id, waba: node, solution: solutionId, status: "INITIATED" },
    ...(destination === undefined ? {} : { destination_waba: destination }),
  });
  return success({ id });
}

type Status = MigrationIntent["status"];

/** D-58: the moves between statuses that the control API makes. */
export const INTENT_MOVES: Readonly<Record<Status, readonly Status[]>> = {
  INITIATED: ["ACCEPTED", "REJECTED"],
  ACCEPTED: ["COMPLETED", "REJECTED"],
  COMPLETED: [],
  REJECTED: [],
};

const common = {
  surfaces: ["base"],
  form: "wrapped",
  scheme: "header",
  kinds: ["user", "system_user"],
  scopes: ["chatapp_business_management"],
  hasTask: () => true,
} as const;

export const intentOperations: readonly Operation[] = [
  { ...common, name: "readMigrationIntent", method: "GET", edge: "", on: "migration_intent", versions: ["23.0", "24.0", "25.0"], reply: readIntent },
  {
    ...common,
    name: "setSolutionMigrationIntent",
    method: "POST",
    edge: "set_solution_migration_intent",
    on: "chatapp_account",
    hasTask: mayChangeAccount,
    reply: setIntent,
  },
];
