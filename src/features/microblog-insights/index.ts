/** The public API of the microblog-insights feature, which serves the insights of media (F1) and of users (F2). */

import { microblogAccount } from "#features/microblog-accounts/api";
import { defineFeature } from "#graph/contract/feature";
import { serveRead } from "#graph/contract/operation";
import { microblogInsightsPolicy, readMediaInsights, readUserInsights } from "./microblog-insights.contract.ts";
import { handleReadMediaInsights, handleReadUserInsights } from "./microblog-insights.handlers.ts";
import { deleteAllOfUser, microblogInsightMigrations } from "./microblog-insights.store.ts";
import { activitySection, followersSection, microblogMediaSection } from "./microblog-insights.world.ts";

export const microblogInsights = defineFeature({
  name: "microblog-insights",
  migrations: microblogInsightMigrations,
  policies: [microblogInsightsPolicy],
  nodeTypes: [{ type: "microblog_media", policy: microblogAccount }],
  operations: [serveRead(readMediaInsights, handleReadMediaInsights), serveRead(readUserInsights, handleReadUserInsights)],
  worldSections: [microblogMediaSection, activitySection, followersSection],
  onOwnerDeleted: deleteAllOfUser,
});
