/** What other features may import of professional social accounts. */
export { canSeeAccount, roleOnPageOfAccount } from "./social-accounts.policies.ts";
export { type SocialAccountFacts, socialAccountOf } from "./social-accounts.ports.ts";
