import { Type } from "typebox";
import { closedMap, described, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { userTable } from "./users.store.ts";

export const userSection = section({
  ...userTable,
  key: "users",
  entry: closedMap(
    { id: described("the user's id", worldId), name: Type.String({ default: "", description: "the name that others see" }) },
    "a user: a person with an account on the platform",
  ),
});
