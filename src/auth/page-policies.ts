/** Policies for nodes that belong to a page. */
import { type GraphError, taskMissing } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Awaitable } from "#kernel/turns";
import type { Reader } from "#storage/database";
import type { FactsOf } from "./app-facts.ts";
import { definePolicy, type Policy, type PolicyInput } from "./policy.ts";

/** Allows tokens of the node's own page, and tokens of people who have a role on that page with one of the given tasks. */
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

/** The tasks that a person may have on a page (D-13). The pages feature provides the port that reads a person's tasks. */
export const pageTasks = ["MANAGE", "CREATE_CONTENT", "MODERATE", "MESSAGING", "ADVERTISE", "ANALYZE"] as const;
export type PageTask = (typeof pageTasks)[number];

export interface PageRole {
  readonly tasks: readonly string[];
  /** Whether the role was granted through the business management tool (AUTH-13). */
  readonly via_business: boolean;
}

interface PageRolePort {
  findRole(reader: Reader, page: NodeId, user: NodeId): Promise<PageRole | undefined>;
  /** Whether the person has a role on one of the pages. The function runs one SQL statement for all pages together. */
  hasRoleOnAny(reader: Reader, pages: readonly NodeId[], user: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    page_role: PageRolePort;
  }
}

/** The name under which a person's role on a page is in the cache of facts. The pages feature removes a role from the cache when the role changes. */
export const pageRoleFact = "page_role";
export const pageRoleKey = (page: string, user: string): string => `${page} ${user}`;

export function pageTasksOf(page: NodeId, user: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Awaitable<PageRole | undefined> {
  return facts<PageRole>(pageRoleFact).get(pageRoleKey(page, user), () => ports.get("page_role").findRole(reader, page, user));
}
