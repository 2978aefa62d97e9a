/** The public API of the token-inspection feature, which inspects tokens (F3). */

import { defineFeature } from "#graph/contract/feature";
import { serveRead } from "#graph/contract/operation";
import { inspection, inspectToken } from "./token-inspection.contract.ts";
import { handleInspectToken } from "./token-inspection.handlers.ts";

export const tokenInspection = defineFeature({
  name: "token-inspection",
  migrations: [],
  policies: [inspection],
  operations: [serveRead(inspectToken, handleInspectToken)],
  needs: ["app"],
});
