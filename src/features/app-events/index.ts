/** The door of the app-events room: I1, and the attribution of what it reports. */
import { serveIntake, serveRead } from "#graph/contract";
import type { Feature } from "#graph/room";
import { deleteAdsOfApp, untrackApp } from "./ads.store.ts";
import { adSection } from "./ads.world.ts";
import { readAttribution, reportAppEvents } from "./app-events.contract.ts";
import { handleReport } from "./app-events.handlers.ts";
import { readRetentionDays, retention, saveRetentionDays } from "./app-events.jobs.ts";
import { appEventMigrations } from "./app-events.migrations.ts";
import { handleReadAttribution } from "./attribution.handlers.ts";
import { deleteEventsOfApp } from "./log.store.ts";

export const appEvents: Feature = {
  name: "app-events",
  migrations: appEventMigrations,
  nodeTypes: [{ type: "ad", policy: "nobody" }],
  operations: [serveIntake(reportAppEvents, handleReport), serveRead(readAttribution, handleReadAttribution)],
  sections: [adSection],
  jobs: [retention],
  async forgetOwner(tx, owner) {
    await deleteEventsOfApp(tx, owner);
    await deleteAdsOfApp(tx, owner);
    await untrackApp(tx, owner);
  },
};

/** For the control API. */
export type { Touch } from "./app-events.attribution.ts";
export { exportParquet } from "./app-events.parquet.ts";
export { type TestEvent, testEventsOf } from "./app-events.test-view.ts";
export {
  deactivateEventName,
  exportLines,
  identitiesOfTouch,
  listDaySums,
  listEventNames,
  listLog,
  logEntry,
  recordTouch,
} from "./log.handlers.ts";
export { reportOf } from "./report.handlers.ts";
export { readRetentionDays, saveRetentionDays };
