import { definePolicy } from "#auth/policy";
import { taskMissing, tokenInvalid } from "#kernel/errors";

/** AUTH-16: a microblog tester of the app. D-55 [clients]: the app's own token too. */
export const inspection = definePolicy({
  name: "inspection",
  summary: "a microblog tester of the inspected token's app",
  kinds: ["microblog_user", "app"],
  scopes: [],
  canSee: () => true,
  async deny({ token, app, reader, ports, profile }) {
    if (token.type === "app") return profile === "clients" ? undefined : tokenInvalid("access_token", "a token of type app is not accepted here");
    const roles = token.microblog_user === undefined ? [] : await ports.get("app").rolesOf(reader, app.id, token.microblog_user);
    return roles.includes("microblog_tester") ? undefined : taskMissing("the role microblog_tester on the app");
  },
});
