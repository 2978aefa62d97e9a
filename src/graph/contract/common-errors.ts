/** Errors that every request may meet, so that contracts list only their own (D-14, D-20, D-21, D-22). */
import type { ErrorName } from "#kernel/errors";

export const commonErrors: readonly ErrorName[] = [
  "internalError",
  "databaseUnreachable",
  "overloaded",
  "appRateLimited",
  "edgeRateLimited",
  "permissionMissing",
  "taskMissing",
  "foreignPage",
  "tokenMissing",
  "tokenInvalid",
  "tokenExpired",
  "tokenRevoked",
  "tokenOfOtherApp",
  "invalidParameter",
  "unsupportedRequest",
  "unknownObject404",
  "unknownPath",
  "bodyTooLarge",
  "headersTooLarge",
  "requestTooSlow",
];
