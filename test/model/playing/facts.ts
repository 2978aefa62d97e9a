/** Which requests change what processes keep beside the database: until the other process has seen it, it may respond by what was (ARCHITECTURE.md, idea 5). */
import type { Operation } from "../reference/operations.ts";
import { isFailure, type Reply } from "../reference/replies.ts";

/** Apps with their subscriptions and migrations, alternate callbacks, and which apps are subscribed to an account. */
const CHANGING: ReadonlySet<string> = new Set([
  ...["updateApp", "subscribeApp", "endSubscription"],
  ...["setAccountOverride", "setNumberOverride", "unsubscribeApp"],
]);

/** A node is kept, so its deletion changes a fact. What is new does not: absence is never kept. Neither do refusals, nor what is read from the database each time. */
export const changesFact = (operation: Operation | undefined, reply: Reply | undefined): boolean =>
  operation !== undefined &&
  reply !== undefined &&
  !isFailure(reply) &&
  (CHANGING.has(operation.name) || (operation.method === "DELETE" && operation.edge === ""));
