/** D-92: the page that a node belongs to, for nested selection: `page{id,name}`. */
import { Type } from "typebox";
import type { Policy } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";

/** For features whose nodes' owner is their page. `policy` is the node type's own. */
export function pageField(policy: Policy): Field {
  const set: FieldSet = {
    fields: { id: { schema: Type.String(), policy }, name: { schema: Type.String(), policy } },
    defaults: ["id", "name"],
  };
  return {
    schema: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
    policy,
    nested: {
      set: () => set,
      load: async ({ node, world }, reader) => ({ id: node.owner, name: (await world.ports.get("page").findName(reader, node.owner)) ?? null }),
    },
  };
}
