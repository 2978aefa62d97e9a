/** What other features may import of microblog accounts. */
export { microblogAccount } from "./microblog-accounts.policies.ts";
