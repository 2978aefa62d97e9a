import { Type } from "typebox";
import { definePolicy } from "#auth/policy";
import { readOperation } from "#graph/contract/operation";
import { taskMissing, tokenInvalid } from "#kernel/errors";

/**
 * AUTH-16: the policy of inspecting a token. The caller must be a microblog tester of the app. D-55 [clients]: the app itself or a person may also
 * inspect a token; the handler decides which people may inspect the token.
 */
export const inspection = definePolicy({
  name: "inspection",
  summary: "a microblog tester of the inspected token's app",
  kinds: ["microblog_user", "app", "user", "system_user"],
  scopes: [],
  canSee: () => true,
  async deny({ token, app, reader, ports, profile }) {
    if (token.type !== "microblog_user")
      return profile === "clients" ? undefined : tokenInvalid("access_token", `a token of type ${token.type} is not accepted here`);
    const roles = token.microblog_user === undefined ? [] : await ports.get("app").rolesOf(reader, app.id, token.microblog_user);
    return roles.includes("microblog_tester") ? undefined : taskMissing("the role microblog_tester on the app");
  },
});

export const inspectToken = readOperation({
  operation: "inspectToken",
  summary: "Reads the type, the owner and the validity of a token.",
  clauses: ["F3-1", "F3-2", "F3-3", "F3-4", "F3-5", "F3-6", "F3-7", "F3-8", "F3-9", "F3-10", "F3-11", "F3-12", "F3-13", "F3-14", "F3-15", "AUTH-16"],
  decisions: ["D-55"],
  on: null,
  edge: "debug_token",
  surfaces: ["microblog"],
  // D-55 [clients]: the host `{base_url}` also serves `GET /debug_token`.
  clientsSurfaces: ["base"],
  versions: "unversioned",
  scheme: "query",
  policy: inspection,
  errorForm: "wrapped",
  params: Type.Object({ input_token: Type.String({ minLength: 1, description: "the token to inspect" }) }),
  returns: Type.Object({
    data: Type.Object({
      type: Type.Optional(Type.String()),
      application: Type.Optional(Type.String()),
      data_access_expires_at: Type.Optional(Type.Integer()),
      expires_at: Type.Optional(Type.Integer()),
      is_valid: Type.Boolean(),
      issued_at: Type.Optional(Type.Integer()),
      scopes: Type.Array(Type.String()),
      user_id: Type.Optional(Type.String()),
      error: Type.Optional(
        Type.Object(
          { code: Type.Integer(), message: Type.String(), subcode: Type.Optional(Type.Integer()) },
          { description: "with the profile `clients`: why the token is not valid" },
        ),
      ),
    }),
  }),
  errors: ["invalidParameter", "taskMissing", "tokenInvalid"],
});
