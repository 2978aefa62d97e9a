/** Policies of catalogs (G1). */
import { pageTasksOf } from "#auth/page-tasks";
import { definePolicy, type PolicyInput } from "#auth/policy";
import { worksFor } from "#features/businesses/api";
import { taskMissing } from "#kernel/errors";
import { catalogOf } from "./product-catalogs.ports.ts";

/** D-13: any of these tasks on the catalog's page gives access to the catalog. */
const TASKS = ["MANAGE", "ADVERTISE", "CREATE_CONTENT"];

/** D-13: by a page task, by the business that the catalog is linked to, or by the agency that it is shared with. */
async function hasCatalog({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> {
  // A feed's owner is its catalog, and a catalog's is itself.
  const catalog = await catalogOf(node.owner, reader, ports, facts);
  if (catalog === undefined) return false;
  if (token.type === "page") return token.page === catalog.page;
  const { user } = token;
  if (user === undefined) return false;
  const role = await pageTasksOf(catalog.page, user, reader, ports, facts);
  if (role !== undefined && TASKS.some((task) => role.tasks.includes(task))) return true;
  const businesses = [...(catalog.business === undefined ? [] : [catalog.business]), ...catalog.agencies.map(({ business }) => business)];
  for (const business of businesses) if (await worksFor(business, user, reader, ports, facts)) return true;
  return false;
}

/** Of a catalog, and of what belongs to it. */
export const catalogAccess = definePolicy({
  name: "catalogAccess",
  summary:
    "a token of the catalog's page, or of a person with task MANAGE, ADVERTISE or CREATE_CONTENT on it, of its business, or of an agency that it is shared with",
  kinds: ["page", "user", "system_user"],
  scopes: [],
  canSee: hasCatalog,
});

/** D-145: reading a catalog. */
export const catalogReading = definePolicy({ ...catalogAccess, name: "catalogReading", scopes: ["catalog_management"] });

/** AUTH-17, D-13. */
export const catalogCreation = definePolicy({
  name: "catalogCreation",
  summary: "a user token with task MANAGE on the page",
  kinds: ["user"],
  scopes: ["catalog_management", "pages_manage_metadata"],
  canSee: async ({ token, node, reader, ports, facts }) =>
    token.user !== undefined && (await pageTasksOf(node.owner, token.user, reader, ports, facts)) !== undefined,
  async deny({ token, node, reader, ports, facts }) {
    const role = token.user === undefined ? undefined : await pageTasksOf(node.owner, token.user, reader, ports, facts);
    return role?.tasks.includes("MANAGE") === true ? undefined : taskMissing("the page task MANAGE");
  },
});
