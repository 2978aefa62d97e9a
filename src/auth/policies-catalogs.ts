/** Policies of catalogs and feeds: G1 and G2. */
import { taskMissing } from "#kernel/errors";
import { worksFor } from "./businesses.ts";
import { catalogOf } from "./catalogs.ts";
import { pageTasksOf } from "./page-tasks.ts";
import type { Policy, PolicyInput } from "./policy.ts";

/** D-13: any of these tasks on the catalog's page gives access to the catalog. */
const CATALOG_TASKS = ["MANAGE", "ADVERTISE", "CREATE_CONTENT"];

const kinds = ["page", "user", "system_user"] as const satisfies Policy["kinds"];

/** D-13: by a page task, by the business that the catalog is linked to, or by the agency that it is shared with. */
async function hasCatalog({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> {
  // A feed's owner is its catalog, and a catalog's is itself.
  const catalog = await catalogOf(node.owner, reader, ports, facts);
  if (catalog === undefined) return false;
  if (token.type === "page") return token.page === catalog.page;
  const { user } = token;
  if (user === undefined) return false;
  const role = await pageTasksOf(catalog.page, user, reader, ports, facts);
  if (role !== undefined && CATALOG_TASKS.some((task) => role.tasks.includes(task))) return true;
  const businesses = [...(catalog.business === undefined ? [] : [catalog.business]), ...catalog.agencies.map(({ business }) => business)];
  for (const business of businesses) if (await worksFor(business, user, reader, ports, facts)) return true;
  return false;
}

export const catalogPolicies = {
  catalogAccess: {
    summary:
      "a token of the catalog's page, or of a person with task MANAGE, ADVERTISE or CREATE_CONTENT on it, of its business, or of an agency that it is shared with",
    kinds,
    scopes: [],
    canSee: hasCatalog,
  },

  /** AUTH-17, D-13. */
  catalogCreation: {
    summary: "a user token with task MANAGE on the page",
    kinds: ["user"],
    scopes: ["catalog_management", "pages_manage_metadata"],
    canSee: async ({ token, node, reader, ports, facts }) =>
      token.user !== undefined && (await pageTasksOf(node.owner, token.user, reader, ports, facts)) !== undefined,
    async deny({ token, node, reader, ports, facts }) {
      const role = token.user === undefined ? undefined : await pageTasksOf(node.owner, token.user, reader, ports, facts);
      return role?.tasks.includes("MANAGE") === true ? undefined : taskMissing("the page task MANAGE");
    },
  },

  /** AUTH-19, D-13. */
  productFeed: {
    summary: "access to the feed's catalog: by a page task, by its business, or by an agency that it is shared with",
    kinds,
    scopes: ["catalog_management"],
    canSee: hasCatalog,
  },
} satisfies Record<string, Policy>;
