/** For other features. */

import { Type } from "typebox";
import { onPage } from "#auth/page-policies";
import { definePolicy, type Policy } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";

interface PagePort {
  findName(reader: Reader, page: NodeId): Promise<string | undefined>;
  /** By id; other ids than those of pages are left out. */
  findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Whether a person with this page-scoped id has written to the page. */
  hasPerson(reader: Reader, page: NodeId, psid: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    page: PagePort;
  }
}

/** D-13, A: `pages_messaging` on that page, with page task MESSAGING for a user token. */
export const pageMessaging = onPage({
  name: "pageMessaging",
  summary: "a token of the page, or of a person with task MESSAGING on it",
  scopes: ["pages_messaging"],
  anyOf: ["MESSAGING"],
});

/** D-165: who knows of the page may read its name. */
export const pageNodePolicy = definePolicy({
  name: "pageNode",
  summary: "a token of the page, or of a person with any role on it",
  kinds: pageMessaging.kinds,
  scopes: [],
  canSee: pageMessaging.canSee,
});

/** D-92: pages inside other nodes, `page{id,name}`. Of rows whose `id` is a page's, or a person's: only pages have names to show. `policy` is that of the field that holds the pages. */
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
