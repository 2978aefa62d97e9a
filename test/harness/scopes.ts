import { features } from "#features";

/** Every permission that any policy asks for, and those that only some cases need. */
export const READ_SCOPES = [
  ...new Set([...features.flatMap(({ policies }) => policies ?? []).flatMap(({ scopes }) => scopes), "ads_management", "ads_read"]),
];
