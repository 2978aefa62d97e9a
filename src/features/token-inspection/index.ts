/** The door of the token-inspection room: F3. */
import { serveRead } from "#graph/contract/operation";
import type { Feature } from "#graph/contract/feature";
import { inspectToken } from "./token-inspection.contract.ts";
import { handleInspectToken } from "./token-inspection.handlers.ts";

export const tokenInspection: Feature = {
  name: "token-inspection",
  migrations: [],
  operations: [serveRead(inspectToken, handleInspectToken)],
};
