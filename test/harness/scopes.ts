import { features } from "#features";

/** All permissions that a policy requires, and those that only some cases require. */
export const READ_SCOPES = [
  ...new Set([...features.flatMap(({ policies }) => policies ?? []).flatMap(({ scopes }) => scopes), "ads_management", "ads_read"]),
];
