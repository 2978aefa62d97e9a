/** The public API of the app-events feature: I1, and the attribution of what it reports. */

import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { serveIntake, serveRead } from "#graph/contract/operation";
import { readAttribution, reportAppEvents } from "./app-events.contract.ts";
import { handleReport } from "./app-events.handlers.ts";
import { readRetentionDays, retention, saveRetentionDays } from "./app-events.jobs.ts";
import { appEventMigrations } from "./app-events.migrations.ts";
import { appEventsPolicy } from "./app-events.policies.ts";
import { appEventDays } from "./app-events.settings.ts";
import { deleteAdsOfApp, untrackApp } from "./attribution/ads.store.ts";
import { adSection } from "./attribution/ads.world.ts";
import { handleReadAttribution } from "./attribution/attribution.handlers.ts";
import { deleteEventsOfApp } from "./log/log.store.ts";

export const appEvents = defineFeature({
  name: "app-events",
  migrations: appEventMigrations,
  policies: [appEventsPolicy],
  nodeTypes: [{ type: "ad", policy: nobody }],
  operations: [serveIntake(reportAppEvents, handleReport), serveRead(readAttribution, handleReadAttribution)],
  worldSections: [adSection],
  jobs: [retention],
  settings: [appEventDays],
  async onOwnerDeleted(tx, owner) {
    await deleteEventsOfApp(tx, owner);
    await deleteAdsOfApp(tx, owner);
    await untrackApp(tx, owner);
  },
});

export { reportOf } from "./attribution/report.handlers.ts";
/** For the control API. */
export type { Touch } from "./attribution/rule.ts";
export { type TestEvent, testEventsOf } from "./intake/test-view.ts";
export {
  deactivateEventName,
  exportLines,
  identitiesOfTouch,
  listDaySums,
  listEventNames,
  listLog,
  logEntry,
  recordTouch,
} from "./log/log.handlers.ts";
export { exportParquet } from "./log/parquet.ts";
export { readRetentionDays, saveRetentionDays };
