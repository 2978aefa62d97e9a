/** Required actions of an app, by due date (B1, D-50). */

import type { Failure } from "../errors.ts";
import type { ActionStatus, RequiredAction } from "../nodes.ts";
import type { Operation, Turn } from "../operations.ts";
import { type Reply, success } from "../replies.ts";
import { asList, CREDENTIAL_NAMES } from "../requests.ts";
import type { World } from "../world.ts";
import { speaksForApp } from "./plain-nodes.ts";

const STATUSES: readonly string[] = ["completed", "in_progress", "in_review", "past_due"];
const KNOWN: ReadonlySet<string> = new Set(["migrations_override", "statuses", "statuses[]"]);

/** Sets the status of the actions whose due date has passed since their status was written. */
export function passDueDates({ now, required_actions, reach }: World): void {
  for (const action of required_actions.values()) {
    const { due_date, written, status } = action;
    if (due_date === undefined || due_date < written || due_date >= now || status === "completed" || status === "past_due") continue;
    action.status = "past_due";
    reach("actionPastDue");
  }
}

/** Orders actions by due date and then by id. In the list, actions without a due date come after all others. */
const byDueDate = (a: RequiredAction, b: RequiredAction): number =>
  (a.due_date ?? Number.MAX_SAFE_INTEGER) - (b.due_date ?? Number.MAX_SAFE_INTEGER) || Number(a.id) - Number(b.id);

function listRequiredActions({ world, request, node, fail }: Turn): Reply | Failure[] {
  const problems: Failure[] = [];
  const version = request.headers["x-api-version"];
  if (version !== undefined && version !== "1.0.0") {
    world.reach("actionsVersion");
    problems.push(fail("invalidParameter"));
  }
  const statuses = asList(request, "statuses");
  if (statuses === null || statuses?.length === 0 || statuses?.some((status) => !STATUSES.includes(status))) {
    world.reach("actionsStatus");
    problems.push(fail("invalidParameter", { parameter: "statuses" }));
  }
  const unknown = request.query.filter(([name]) => !KNOWN.has(name) && !CREDENTIAL_NAMES.has(name));
  if (unknown.length > 0 && world.profile === "strict") {
    world.reach("actionsUnknownParameter");
    problems.push(...unknown.map(([parameter]) => fail("invalidParameter", { parameter })));
  }
  if (problems.length > 0) return problems;
  const shown = [...world.required_actions.values()]
    .filter(({ app, status }) => app === node && (statuses?.includes(status) ?? true))
    .sort(byDueDate)
    .map(({ id, title, description, due_date, status }) => ({
      ...{ id: Number(id), title, status },
      ...(description === undefined ? {} : { description }),
      ...(due_date === undefined ? {} : { due_date }),
    }));
  return success({ required_action: shown });
}

/** D-50: the moves between statuses that the control API makes. */
export const ACTION_MOVES: Readonly<Record<ActionStatus, readonly ActionStatus[]>> = {
  in_progress: ["in_review"],
  in_review: ["completed", "in_progress"],
  past_due: ["in_review"],
  completed: [],
};

export const actionOperations: readonly Operation[] = [
  {
    ...{ name: "listRequiredActions", method: "GET", edge: "required_actions", on: "app", surfaces: ["app"], form: "wrapped", scheme: "header" },
    ...{ kinds: ["app", "user", "system_user"], scopes: [], isOfNoPerson: true },
    hasTask: speaksForApp,
    reply: listRequiredActions,
  },
];
