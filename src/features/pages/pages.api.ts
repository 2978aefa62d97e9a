/** What other features may import of pages. */
export { pageField, pageSet } from "./pages.field.ts";
export { pageMessaging } from "./pages.policies.ts";
