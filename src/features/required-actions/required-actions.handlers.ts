import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { unixSeconds } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import type { Reader } from "#storage/database";
import { API_VERSION, type listRequiredActions } from "./required-actions.contract.ts";
import { statusAt } from "./required-actions.states.ts";
import { listActionsOfApp } from "./required-actions.store.ts";

export async function handleListRequiredActions(
  request: OperationRequest<Static<typeof listRequiredActions.params>>,
  reader: Reader,
): Promise<Static<typeof listRequiredActions.returns>> {
  const { node, params, graphRequest, world } = request;
  const version = graphRequest.header("x-api-version");
  if (version !== undefined && version !== API_VERSION) throw invalidParameter("X-API-Version", `must be ${API_VERSION}`);
  const now = unixSeconds(world.clock);
  const actions = (await listActionsOfApp(reader, node.id)).map(({ id, title, description, due_date, ...facts }) => ({
    id: Number(id),
    title,
    ...(description === null ? {} : { description }),
    ...(due_date === null ? {} : { due_date }),
    status: statusAt({ ...facts, due_date }, now),
  }));
  const { statuses } = params;
  return { required_action: statuses === undefined ? actions : actions.filter(({ status }) => statuses.includes(status)) };
}
