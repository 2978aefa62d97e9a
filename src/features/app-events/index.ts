/** The public API of the app-events feature, which receives events of apps (I1) and attributes them to ads. */

import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { serveIntake, serveList } from "#graph/contract/operation";
import { appEventsPolicy, listAttribution, reportAppEvents } from "./app-events.contract.ts";
import { appEventControlRoutes } from "./app-events.control.ts";
import { handleReport, showRefused } from "./app-events.handlers.ts";
import { appEventDays, retention } from "./app-events.jobs.ts";
import { appEventMigrations } from "./app-events.migrations.ts";
import { deleteAdsOfApp, untrackApp } from "./attribution/ads.store.ts";
import { adSection } from "./attribution/ads.world.ts";
import { attributionControlRoutes } from "./attribution/attribution.control.ts";
import { handleListAttribution } from "./attribution/attribution.handlers.ts";
import { erasePerson } from "./log/erasure.ts";
import { logControlRoutes } from "./log/log.control.ts";
import { deleteEventsOfApp } from "./log/log.store.ts";

export const appEvents = defineFeature({
  name: "app-events",
  needs: ["app"],
  migrations: appEventMigrations,
  policies: [appEventsPolicy],
  nodeTypes: [{ type: "ad", policy: nobody }],
  operations: [serveIntake(reportAppEvents, handleReport, showRefused), serveList(listAttribution, handleListAttribution)],
  worldSections: [adSection],
  jobs: [retention],
  controlRoutes: [...appEventControlRoutes, ...logControlRoutes, ...attributionControlRoutes],
  settings: [appEventDays],
  erasePerson,
  async onOwnerDeleted(tx, owner) {
    await deleteEventsOfApp(tx, owner);
    await deleteAdsOfApp(tx, owner);
    await untrackApp(tx, owner);
  },
});

/** The command line (`src/cli`) uses these exports to collect the test events of all processes. */
export { type TestEvent, testEventsOf } from "./intake/test-view.ts";
