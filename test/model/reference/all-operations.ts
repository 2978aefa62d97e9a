/** Every operation of the interface. */
import { accountOperations } from "./areas/accounts.ts";
import { eventOperations } from "./areas/app-events.ts";
import { appOperations } from "./areas/apps.ts";
import { catalogOperations } from "./areas/catalogs.ts";
import { chatappOperations } from "./areas/chatapp.ts";
import { insightOperations } from "./areas/insights.ts";
import { labelOperations } from "./areas/labels.ts";
import { audienceOperations } from "./areas/live-audience.ts";
import { liveOperations } from "./areas/live-videos.ts";
import { intentOperations } from "./areas/migration-intents.ts";
import { personaOperations } from "./areas/personas.ts";
import { plainOperations } from "./areas/plain-nodes.ts";
import { actionOperations } from "./areas/required-actions.ts";
import { subscriptionOperations } from "./areas/subscriptions.ts";
import { mediaOperations } from "./areas/tagged-media.ts";
import { inspectionOperations } from "./areas/token-inspection.ts";
import type { Operation } from "./operations.ts";

export const operations: readonly Operation[] = [
  ...labelOperations,
  ...personaOperations,
  ...plainOperations,
  ...appOperations,
  ...eventOperations,
  ...actionOperations,
  ...catalogOperations,
  ...liveOperations,
  ...insightOperations,
  ...subscriptionOperations,
  ...audienceOperations,
  ...mediaOperations,
  ...inspectionOperations,
  ...accountOperations,
  ...chatappOperations,
  ...intentOperations,
];

/** The names of all edges. The empty name of an edge stands for the node itself. */
export const EDGES: ReadonlySet<string> = new Set(operations.map(({ edge }) => edge));
