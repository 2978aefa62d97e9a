import { policies } from "#auth/policies";

/** Every permission that any policy asks for, and those that only some cases need. */
export const READ_SCOPES = [
  ...new Set([...Object.values(policies).flatMap(({ scopes }) => scopes as readonly string[]), "ads_management", "ads_read"]),
];
