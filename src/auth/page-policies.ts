/** Policies of what belongs to a page. */
import { type GraphError, taskMissing } from "#kernel/errors";
import { type PageTask, pageTasksOf } from "./page-tasks.ts";
import { definePolicy, type Policy, type PolicyInput } from "./policy.ts";

/** A page token of that page, or a token of a person who has any role on it, and one of the tasks. */
export function onPage({ anyOf, ...words }: Pick<Policy, "name" | "summary" | "scopes"> & { readonly anyOf: readonly PageTask[] }): Policy {
  return definePolicy({
    ...words,
    kinds: ["page", "user", "system_user"],
    canSee: (input) => (input.token.type === "page" ? input.token.page === input.node.owner : hasRole(input)),
    deny: (input) => (input.token.type === "page" ? undefined : denyPerson(input, anyOf)),
  });
}

async function hasRole({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> {
  return token.user !== undefined && (await pageTasksOf(node.owner, token.user, reader, ports, facts)) !== undefined;
}

async function denyPerson({ token, node, reader, ports, facts }: PolicyInput, anyOf: readonly PageTask[]): Promise<GraphError | undefined> {
  if (token.user === undefined) return undefined;
  const role = await pageTasksOf(node.owner, token.user, reader, ports, facts);
  return anyOf.some((task) => role?.tasks.includes(task)) ? undefined : taskMissing(`the page task ${anyOf.join(" or ")}`);
}
