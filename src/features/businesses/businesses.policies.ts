import { definePolicy } from "#auth/policy";
import { worksFor } from "./businesses.ports.ts";

/** D-165. */
export const ownBusiness = definePolicy({
  name: "ownBusiness",
  summary: "a token of a person who works for the business",
  kinds: ["user", "system_user"],
  scopes: [],
  canSee: ({ token, node, reader, ports, facts }) =>
    (token.type === "user" || token.type === "system_user") && token.user !== undefined && worksFor(node.id, token.user, reader, ports, facts),
});
