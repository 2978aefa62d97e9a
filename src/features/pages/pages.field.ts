/** D-92: pages inside other nodes: `page{id,name}`. */
import { Type } from "typebox";
import type { Policy } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";

/** Of rows whose `id` is a page's, or a person's: only pages have names to show. `policy` is that of the field that holds the pages. */
export function pageSet(policy: Policy, defaults: readonly string[]): FieldSet {
  const text = { schema: Type.String(), policy };
  const name: Field = {
    ...text,
    async load({ world }, reader, rows) {
      const names = await world.ports.get("page").findNames(
        reader,
        rows.map(({ id }) => String(id)),
      );
      return rows.map(({ id }) => names.get(String(id)));
    },
  };
  return { fields: { id: text, name }, defaults };
}

/** For features whose nodes' owner is their page. `policy` is the node type's own. */
export function pageField(policy: Policy): Field {
  const set = pageSet(policy, ["id", "name"]);
  return {
    schema: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
    policy,
    nested: { type: "page", set: () => set, load: async ({ node }, _reader, rows) => rows.map(() => ({ id: node.owner })) },
  };
}
