/** Policies of app events: I1 and what is read of it. */
import type { Policy } from "./policy.ts";

export const appEventPolicies = {
  /** AUTH-22, D-13. */
  appEvents: {
    summary: "the app's own app token",
    kinds: ["app"],
    scopes: [],
    canSee: ({ token, node }) => token.app === node.id,
  },
} satisfies Record<string, Policy>;
