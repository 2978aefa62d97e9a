/** Policies of what belongs to an app. */
import { taskMissing } from "#kernel/errors";
import { definePolicy, type Policy } from "./policy.ts";

/** The app itself: its own app token, or a person with a role on it. */
export const ownApp = definePolicy({
  name: "ownApp",
  summary: "a token of that app: an app token, or of one of its administrators or developers",
  kinds: ["app", "user", "system_user"],
  scopes: [],
  canSee: ({ token, node }) => token.app === node.id,
  async deny({ token, node, reader, ports }) {
    if (token.type === "app" || token.user === undefined) return undefined;
    const roles = await ports.get("app").rolesOf(reader, node.id, token.user);
    return roles.some((role) => role === "administrator" || role === "developer")
      ? undefined
      : taskMissing("the role administrator or developer on the app");
  },
});

/** The app's own app token, and nobody's else. */
export const appTokenAlone = (name: string): Policy =>
  definePolicy({ name, summary: "the app's own app token", kinds: ["app"], scopes: [], canSee: ({ token, node }) => token.app === node.id });
