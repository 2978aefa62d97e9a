/** The port `page`, the policies, and the fields of pages that other features may import from the pages feature. */

import { Type } from "typebox";
import { onPage } from "#auth/page-policies";
import { definePolicy, type Policy } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Row } from "#storage/sql";

interface PagePort {
  findName(reader: Reader, page: NodeId): Promise<string | undefined>;
  /** Returns a map from the ids of pages to their names. The map leaves out an id that is not the id of a page. */
  findNames(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Lists the pages on which a user has a role, ordered by id. `tasks` is a JSON list of the user's tasks on the page. */
  pagesOf(reader: Reader, user: NodeId, page: PageRequest): Promise<ListPage<{ id: string; name: string; tasks: string }>>;
  /** Returns whether a person with the given page-scoped id has written to the page. */
  hasPerson(reader: Reader, page: NodeId, psid: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    page: PagePort;
  }
}

/**
 * D-13: the policy of labels and personas (A). A token needs the scope `pages_messaging` for labels and personas, and the person of a user token also
 * needs the page task MESSAGING.
 */
export const pageMessaging = onPage({
  name: "pageMessaging",
  summary: "a token of the page, or of a person with task MESSAGING on it",
  scopes: ["pages_messaging"],
  anyOf: ["MESSAGING"],
});

/** D-165: the policy of reading a page by its id. Everyone with a role on the page may read its name. */
export const pageNodePolicy = definePolicy({
  name: "pageNode",
  summary: "a token of the page, or of a person with any role on it",
  kinds: pageMessaging.kinds,
  scopes: [],
  canSee: pageMessaging.canSee,
});

/**
 * D-92: returns the fields of a page inside another node, `page{id,name}`. If the `id` of a row belongs to a person and not to a page, the field
 * `name` is absent, because only the names of pages are shown. `policy` is the policy of the field that contains the page.
 */
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

/** Returns the field `page` of nodes whose rows have the id of a page. `policy` is the policy of the node type. */
export function pageField<R extends Row & { readonly page: string }>(policy: Policy): Field<R> {
  const set = pageSet(policy, ["id", "name"]);
  return {
    schema: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
    policy,
    nested: { type: "page", set: () => set, load: async (_request, _reader, rows) => rows.map(({ page }) => ({ id: page })) },
  };
}
