/** What other features may import of business messaging accounts. */
export { chatappAccount, chatappRedirection, chatappSubscription } from "./chatapp-accounts.policies.ts";
export { isSubscribedApp } from "./chatapp-accounts.ports.ts";
