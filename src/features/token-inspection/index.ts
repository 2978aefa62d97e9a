/** The door of the token-inspection room: F3. */
import { serveRead } from "#graph/contract";
import type { Room } from "#graph/room";
import { inspectToken } from "./token-inspection.contract.ts";
import { handleInspectToken } from "./token-inspection.handlers.ts";

export const tokenInspection: Room = {
  name: "token-inspection",
  migrations: [],
  operations: [serveRead(inspectToken, handleInspectToken)],
};
