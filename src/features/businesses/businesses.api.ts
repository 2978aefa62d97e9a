/** What other features may import of businesses. */
export { worksFor } from "./businesses.ports.ts";
