/** Faults on purpose, by operation: created, listed, deleted. */
import { Type } from "typebox";
import { badRequest } from "#control-contract/errors";
import { type ControlRoute, route } from "#control-contract/route";

/** Longer than any client waits. */
const LATENCY_MS_MAX = 300_000;

const faultFields = {
  operation: Type.String({ minLength: 1, description: "an operation's name, or * for all" }),
  status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
  code: Type.Optional(Type.Integer()),
  latency_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: LATENCY_MS_MAX })),
  times: Type.Optional(Type.Integer({ minimum: 1 })),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};
const fault = Type.Object({ id: Type.String(), ...faultFields, met: Type.Integer({ description: "how many requests it was applied to" }) });
const FAULTS = "/v1/worlds/{w}/faults";

export const faultRoutes: readonly ControlRoute[] = [
  route({
    method: "POST",
    path: FAULTS,
    operation: "createFault",
    summary: "Makes an operation fail or respond late, a number of times or with a probability",
    body: Type.Object(faultFields, { additionalProperties: false }),
    status: 201,
    response: fault,
    errors: [404],
    handle: async ({ deps, world, body }) => {
      const isKnown = body.operation === "*" || deps.registry.endpoints.some(({ access }) => access.operation === body.operation);
      if (!isKnown) throw badRequest(`there is no operation ${body.operation}`, "operation");
      if (body.status === undefined && body.latency_ms === undefined) throw badRequest("a fault has a status, a latency_ms, or both", "status");
      return world.faults.add(body);
    },
  }),
  {
    method: "GET",
    path: FAULTS,
    operation: "listFaults",
    summary: "The faults that are still in effect",
    response: Type.Object({ data: Type.Array(fault), paging: Type.Object({}) }),
    errors: [404],
    handle: async ({ world }) => ({ data: world.faults.list(), paging: {} }),
  },
  {
    method: "DELETE",
    path: FAULTS,
    operation: "deleteFaults",
    summary: "Deletes all faults",
    response: Type.Object({ success: Type.Boolean() }),
    errors: [404],
    handle: async ({ world }) => {
      world.faults.clear();
      return { success: true };
    },
  },
];
