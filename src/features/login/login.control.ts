/** The control routes of the login, with which a test acts like a person in the settings of the platform (operating.md: in-app). */
import { type Static, Type } from "typebox";
import { conflict, unprocessable } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList, warnings, warningsOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { having } from "#graph/schema/schema-node";
import { worldId } from "#graph/worlds/file/schema-words";
import { scopeWarnings } from "#graph/worlds/tokens";
import type { NodeId } from "#kernel/ids";
import { scheduleDeletion } from "./login.callbacks.ts";
import { findPerson } from "./login.people.ts";
import { ALWAYS, decide, removeApp } from "./login.permissions.ts";
import { SCOPE_NAME, SCOPES_MAX } from "./login.request.ts";
import { type DeletionRow, listDeletions } from "./login.store.ts";
import { issueToken, LONG_SECONDS } from "./login.tokens.ts";

const removal = Type.Object(
  {
    app: { ...worldId, description: "the id of the app" },
    user: { ...worldId, description: "the id of the person" },
    delete_data: Type.Optional(Type.Boolean({ description: "whether the person also asks the app to delete the person's data" })),
  },
  { additionalProperties: false },
);

const newLogin = Type.Object(
  {
    app: { ...worldId, description: "the id of the app" },
    user: Type.Optional({ ...worldId, description: "the id of the user who logs in; give either `user` or `social_account`" }),
    social_account: Type.Optional({ ...worldId, description: "the id of the account that logs in" }),
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: SCOPE_NAME.source }), {
        maxItems: SCOPES_MAX,
        description: "the permissions that the person grants (default: all of Plaza's permissions)",
      }),
    ),
  },
  { additionalProperties: false, anyOf: [having("user"), having("social_account")], not: having("social_account", "user") },
);

const loggedIn = Type.Object({
  access_token: Type.String({ description: "the value of the token; only this response contains the value, which cannot be read again" }),
  token_type: Type.Literal("bearer"),
  expires_in: Type.Integer({ description: "seconds" }),
  app: Type.String(),
  user: Type.Optional(Type.String()),
  social_account: Type.Optional(Type.String()),
  scopes: Type.Array(Type.String(), { description: "the permissions of the token: all that the person granted now or earlier" }),
  warnings,
});

/** Logs in as a person of a sandbox (D-388). */
async function handleLogin({ deps, world, body }: ControlRequest<unknown, Static<typeof newLogin>>): Promise<unknown> {
  if (!deps.server.sandbox) throw conflict("you can log in as a person only in a sandbox; for a script, create a token with POST …/tokens");
  const { app, user, social_account, scopes = [...deps.registry.scopes].sort() } = body;
  const person = (user ?? social_account) as NodeId;
  const granted = user === undefined ? scopes : [...new Set([ALWAYS, ...scopes])];
  const issued = await world.database.write(async (tx) => {
    if ((await world.ports.get("app").findFacts(tx, app)) === undefined) throw unprocessable(`there is no app ${app}`, "app");
    if ((await findPerson(tx, world, user === undefined, person)) === undefined)
      throw unprocessable(`there is no ${user === undefined ? "social account" : "user"} ${person}`, user === undefined ? "social_account" : "user");
    const allowed = await decide(tx, app, person, { asked: granted, granted, isRerequest: true });
    return issueToken(tx, world, { app, person, is_account: user === undefined, scopes: allowed }, LONG_SECONDS, undefined);
  });
  return {
    ...{ access_token: issued.value, token_type: "bearer", expires_in: LONG_SECONDS, app, user, social_account },
    scopes: [...issued.token.scopes],
    ...warningsOf(scopeWarnings([{ scopes: scopes.filter((scope) => scope !== ALWAYS) }], deps.registry.scopes)),
  };
}

const deletion = Type.Object({
  app: Type.String(),
  user: Type.String(),
  requested_at: Type.Integer({ description: "Unix seconds" }),
  confirmed_at: Type.Integer({ description: "Unix seconds; 0: the app has not confirmed the request" }),
  url: Type.Optional(Type.String({ description: "the app's page about the deletion" })),
  confirmation_code: Type.Optional(Type.String()),
  problem: Type.Optional(Type.String({ description: "the reason why the app has not confirmed the request" })),
});

/** Removes an app from a person's account (D-385), and on request asks the app to delete the person's data (D-387). */
const handleRemoval = ({ world, body: { app, user, delete_data = false } }: ControlRequest<unknown, Static<typeof removal>>): Promise<void> =>
  world.database.write(async (tx) => {
    const facts = await world.ports.get("app").findFacts(tx, app);
    if (facts === undefined) throw unprocessable(`there is no app ${app}`, "app");
    if ((await findPerson(tx, world, false, user)) === undefined) throw unprocessable(`there is no user ${user}`, "user");
    if (delete_data && facts.data_deletion_url === undefined)
      throw unprocessable(`the app ${app} has no data_deletion_url, so nobody can ask the app to delete data`, "delete_data");
    await removeApp(tx, world, facts, user);
    if (delete_data) await scheduleDeletion(tx, world, app, user);
  });

const shown = ({ app, person, requested_at, confirmed_at, url, confirmation_code, problem }: DeletionRow) => ({
  ...{ app, user: person, requested_at, confirmed_at },
  ...(confirmed_at === 0 ? {} : { url, confirmation_code }),
  ...(problem === "" ? {} : { problem }),
});

const IN_APP = "/v1/worlds/{w}/in-app";

export const loginControlRoutes: readonly ControlRoute[] = [
  route(`POST ${IN_APP}/login`, "logInInApp", {
    summary: "Logs in to an app as a person of a sandbox, who grants permissions, and returns a token of 60 days. Only this response shows the value",
    body: newLogin,
    status: 201,
    response: loggedIn,
    errors: [409, 422],
    handle: handleLogin,
  }),
  route(`POST ${IN_APP}/remove-app`, "removeAppInApp", {
    summary:
      "Removes an app as a person, as in the settings of the platform. The app's tokens for the person are revoked, and its callbacks get a request",
    body: removal,
    errors: [422],
    handle: handleRemoval,
  }),
  route(`GET ${IN_APP}/data-deletions`, "listDataDeletions", {
    summary: "Lists the latest request of each person to an app to delete data, with the app's answer",
    query: pageQuery,
    response: listOf(deletion),
    handle: (request) => respondWithList(request, "data-deletions", (page, world) => listDeletions(world.database.reader, page), shown),
  }),
];
