/** The control routes of the login: what a person does in the settings of the platform (operating.md: in-app). */
import { type Static, Type } from "typebox";
import { unprocessable } from "#control-contract/errors";
import { listOf, pageQuery, respondWithList } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { worldId } from "#graph/worlds/file/schema-words";
import { scheduleDeletion } from "./login.callbacks.ts";
import { removeApp } from "./login.permissions.ts";
import { type DeletionRow, listDeletions } from "./login.store.ts";

const removal = Type.Object(
  {
    app: { ...worldId, description: "the id of the app" },
    user: { ...worldId, description: "the id of the person" },
    delete_data: Type.Optional(Type.Boolean({ description: "the person also asks the app to delete her data" })),
  },
  { additionalProperties: false },
);

const deletion = Type.Object({
  app: Type.String(),
  user: Type.String(),
  requested_at: Type.Integer({ description: "Unix seconds" }),
  confirmed_at: Type.Integer({ description: "Unix seconds; 0: the app has not confirmed the request" }),
  url: Type.Optional(Type.String({ description: "the app's page about the deletion" })),
  confirmation_code: Type.Optional(Type.String()),
  problem: Type.Optional(Type.String({ description: "why the app has not confirmed the request" })),
});

/** D-385, D-387. */
const handleRemoval = ({ world, body: { app, user, delete_data = false } }: ControlRequest<unknown, Static<typeof removal>>): Promise<void> =>
  world.database.write(async (tx) => {
    const facts = await world.ports.get("app").findFacts(tx, app);
    if (facts === undefined) throw unprocessable(`there is no app ${app}`, "app");
    if (!(await world.ports.get("user").isPerson(tx, user))) throw unprocessable(`there is no user ${user}`, "user");
    if (delete_data && facts.data_deletion_url === undefined)
      throw unprocessable(`the app ${app} has no data_deletion_url, so nobody can ask it to delete data`, "delete_data");
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
  route(`POST ${IN_APP}/remove-app`, "removeAppInApp", {
    summary:
      "Removes an app as a person, as in the settings of the platform. The app's tokens for the person are revoked, and its callbacks are told",
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
