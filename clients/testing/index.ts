/** `plaza-graph/testing`: runs Plaza in a test suite (docs/guides/testing.md). */
export type { Entries, Nodes, Operations, TokenEntry, WorldFile } from "./control-api.ts";
export {
  ControlRefusal,
  type Difference,
  type NearMiss,
  type SeenAppEvent,
  type SeenRequest,
  type SeenWebhook,
  UnmetExpectation,
} from "./failures.ts";
export { type ReceivedWebhook, type Receiver, type ReceiverOptions, startReceiver, type WebhookEvent } from "./receiver.ts";
export { stopServer } from "./server.ts";
export type { Failure } from "./storm/failure.ts";
export { StormFailure, type StormInTests, storm } from "./storm/index.ts";
export { reportText } from "./storm/report.ts";
export type { Invariant, Scenario, StormRun } from "./storm/runs.ts";
export { type StormOptions, type StormReport, StormUnusable } from "./storm/storm.ts";
export { type Plaza, type PlazaOptions, type WorldOptions, withPlaza } from "./with-plaza.ts";
export type { GraphAddresses, Met, NodesOf, WebhookReceiver, WebhookReceiverOptions, World } from "./world.ts";
