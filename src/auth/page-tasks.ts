/** Page tasks: what a person may do on a page (D-13). The pages feature provides the port. */
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import type { FactsOf } from "./facts-of.ts";

export const pageTasks = ["MANAGE", "CREATE_CONTENT", "MODERATE", "MESSAGING", "ADVERTISE", "ANALYZE"] as const;
export type PageTask = (typeof pageTasks)[number];

export interface PageRole {
  readonly tasks: readonly string[];
  /** The role was granted through the business management tool (AUTH-13). */
  readonly via_business: boolean;
}

interface PageRolePort {
  findRole(reader: Reader, page: NodeId, user: NodeId): Promise<PageRole | undefined>;
}

declare module "#kernel/ports" {
  interface Ports {
    page_role: PageRolePort;
  }
}

/** The fact's key; the pages feature invalidates it when a role changes. */
export const pageRoleFact = "page_role";
export const pageRoleKey = (page: string, user: string): string => `${page} ${user}`;

export function pageTasksOf(page: NodeId, user: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<PageRole | undefined> {
  return facts<PageRole>(pageRoleFact).get(pageRoleKey(page, user), () => ports.get("page_role").findRole(reader, page, user));
}
