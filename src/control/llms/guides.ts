/** The pages for people as text, which the control port and MCP serve. */

import addressesDecisions from "#decisions/addresses.md" with { type: "text" };
import appEventsDecisions from "#decisions/app-events.md" with { type: "text" };
import clientLibrariesDecisions from "#decisions/client-libraries.md" with { type: "text" };
import codingAgentsDecisions from "#decisions/coding-agents.md" with { type: "text" };
import credentialsDecisions from "#decisions/credentials.md" with { type: "text" };
import deployingDecisions from "#decisions/deploying.md" with { type: "text" };
import errorsDecisions from "#decisions/errors.md" with { type: "text" };
import feedsDecisions from "#decisions/feeds.md" with { type: "text" };
import listsDecisions from "#decisions/lists.md" with { type: "text" };
import liveVideoDecisions from "#decisions/live-video.md" with { type: "text" };
import otherAreasDecisions from "#decisions/other-areas.md" with { type: "text" };
import pageMessagingDecisions from "#decisions/page-messaging.md" with { type: "text" };
import overviewDecisions from "#decisions/README.md" with { type: "text" };
import unchangedProgramsDecisions from "#decisions/unchanged-programs.md" with { type: "text" };
import versionsDecisions from "#decisions/versions.md" with { type: "text" };
import webhooksDecisions from "#decisions/webhooks.md" with { type: "text" };
import whileBuildingDecisions from "#decisions/while-building.md" with { type: "text" };
import worldsDecisions from "#decisions/worlds.md" with { type: "text" };
import appEventsGuides from "#docs/guides/app-events.md" with { type: "text" };
import codingAgentsGuides from "#docs/guides/coding-agents.md" with { type: "text" };
import comparingServersGuides from "#docs/guides/comparing-servers.md" with { type: "text" };
import feedsGuides from "#docs/guides/feeds.md" with { type: "text" };
import liveVideoGuides from "#docs/guides/live-video.md" with { type: "text" };
import selfMessagingGuides from "#docs/guides/self-messaging.md" with { type: "text" };
import testingGuides from "#docs/guides/testing.md" with { type: "text" };
import typescriptClientGuides from "#docs/guides/typescript-client.md" with { type: "text" };
import unchangedProgramsGuides from "#docs/guides/unchanged-programs.md" with { type: "text" };
import webhooksGuides from "#docs/guides/webhooks.md" with { type: "text" };
import appEventsInterface from "#docs/interface/app-events.md" with { type: "text" };
import authenticationInterface from "#docs/interface/authentication.md" with { type: "text" };
import businessMessagingInterface from "#docs/interface/business-messaging.md" with { type: "text" };
import catalogsAndFeedsInterface from "#docs/interface/catalogs-and-feeds.md" with { type: "text" };
import clientLibrariesInterface from "#docs/interface/client-libraries.md" with { type: "text" };
import errorsInterface from "#docs/interface/errors.md" with { type: "text" };
import liveVideoInterface from "#docs/interface/live-video.md" with { type: "text" };
import microblogInterface from "#docs/interface/microblog.md" with { type: "text" };
import pageMessagingInterface from "#docs/interface/page-messaging.md" with { type: "text" };
import pagingInterface from "#docs/interface/paging.md" with { type: "text" };
import overviewInterface from "#docs/interface/README.md" with { type: "text" };
import requiredActionsInterface from "#docs/interface/required-actions.md" with { type: "text" };
import selfMessagingInterface from "#docs/interface/self-messaging.md" with { type: "text" };
import taggedMediaInterface from "#docs/interface/tagged-media.md" with { type: "text" };
import versionsInterface from "#docs/interface/versions.md" with { type: "text" };
import consoleOperating from "#docs/operating/console.md" with { type: "text" };
import controlApiOperating from "#docs/operating/control-api.md" with { type: "text" };
import keysOperating from "#docs/operating/keys.md" with { type: "text" };
import liveVideoOperating from "#docs/operating/live-video.md" with { type: "text" };
import monitoringOperating from "#docs/operating/monitoring.md" with { type: "text" };
import networkOperating from "#docs/operating/network.md" with { type: "text" };
import postgresqlOperating from "#docs/operating/postgresql.md" with { type: "text" };
import startOperating from "#docs/operating/start.md" with { type: "text" };
import worldsOperating from "#docs/operating/worlds.md" with { type: "text" };
import ciRecipes from "#docs/recipes/ci.md" with { type: "text" };
import postgresqlRecipes from "#docs/recipes/postgresql.md" with { type: "text" };
import tokenExpiryRecipes from "#docs/recipes/token-expiry.md" with { type: "text" };
import versionUpgradeRecipes from "#docs/recipes/version-upgrade.md" with { type: "text" };
import webhookHandlerRecipes from "#docs/recipes/webhook-handler.md" with { type: "text" };
import commandsReference from "#docs/reference/commands.md" with { type: "text" };
import configurationReference from "#docs/reference/configuration.md" with { type: "text" };
import controlApiReference from "#docs/reference/control-api.md" with { type: "text" };
import errorsReference from "#docs/reference/errors.md" with { type: "text" };
import permissionsReference from "#docs/reference/permissions.md" with { type: "text" };
import webhookFieldsReference from "#docs/reference/webhook-fields.md" with { type: "text" };
import worldFilesReference from "#docs/reference/world-files.md" with { type: "text" };

/** The text of each page by its path, as links name it. */
export const guides: ReadonlyMap<string, string> = new Map([
  ["guides/app-events.md", appEventsGuides],
  ["guides/coding-agents.md", codingAgentsGuides],
  ["guides/comparing-servers.md", comparingServersGuides],
  ["guides/feeds.md", feedsGuides],
  ["guides/live-video.md", liveVideoGuides],
  ["guides/self-messaging.md", selfMessagingGuides],
  ["guides/testing.md", testingGuides],
  ["guides/typescript-client.md", typescriptClientGuides],
  ["guides/unchanged-programs.md", unchangedProgramsGuides],
  ["guides/webhooks.md", webhooksGuides],
  ["interface/README.md", overviewInterface],
  ["interface/app-events.md", appEventsInterface],
  ["interface/authentication.md", authenticationInterface],
  ["interface/business-messaging.md", businessMessagingInterface],
  ["interface/catalogs-and-feeds.md", catalogsAndFeedsInterface],
  ["interface/client-libraries.md", clientLibrariesInterface],
  ["interface/errors.md", errorsInterface],
  ["interface/live-video.md", liveVideoInterface],
  ["interface/microblog.md", microblogInterface],
  ["interface/page-messaging.md", pageMessagingInterface],
  ["interface/paging.md", pagingInterface],
  ["interface/required-actions.md", requiredActionsInterface],
  ["interface/self-messaging.md", selfMessagingInterface],
  ["interface/tagged-media.md", taggedMediaInterface],
  ["interface/versions.md", versionsInterface],
  ["recipes/ci.md", ciRecipes],
  ["recipes/postgresql.md", postgresqlRecipes],
  ["recipes/token-expiry.md", tokenExpiryRecipes],
  ["recipes/version-upgrade.md", versionUpgradeRecipes],
  ["recipes/webhook-handler.md", webhookHandlerRecipes],
  ["operating/console.md", consoleOperating],
  ["operating/control-api.md", controlApiOperating],
  ["operating/keys.md", keysOperating],
  ["operating/live-video.md", liveVideoOperating],
  ["operating/monitoring.md", monitoringOperating],
  ["operating/network.md", networkOperating],
  ["operating/postgresql.md", postgresqlOperating],
  ["operating/start.md", startOperating],
  ["operating/worlds.md", worldsOperating],
  ["reference/commands.md", commandsReference],
  ["reference/configuration.md", configurationReference],
  ["reference/control-api.md", controlApiReference],
  ["reference/errors.md", errorsReference],
  ["reference/permissions.md", permissionsReference],
  ["reference/webhook-fields.md", webhookFieldsReference],
  ["reference/world-files.md", worldFilesReference],
  ["decisions/README.md", overviewDecisions],
  ["decisions/addresses.md", addressesDecisions],
  ["decisions/app-events.md", appEventsDecisions],
  ["decisions/client-libraries.md", clientLibrariesDecisions],
  ["decisions/coding-agents.md", codingAgentsDecisions],
  ["decisions/credentials.md", credentialsDecisions],
  ["decisions/deploying.md", deployingDecisions],
  ["decisions/errors.md", errorsDecisions],
  ["decisions/feeds.md", feedsDecisions],
  ["decisions/lists.md", listsDecisions],
  ["decisions/live-video.md", liveVideoDecisions],
  ["decisions/other-areas.md", otherAreasDecisions],
  ["decisions/page-messaging.md", pageMessagingDecisions],
  ["decisions/unchanged-programs.md", unchangedProgramsDecisions],
  ["decisions/versions.md", versionsDecisions],
  ["decisions/webhooks.md", webhooksDecisions],
  ["decisions/while-building.md", whileBuildingDecisions],
  ["decisions/worlds.md", worldsDecisions],
]);
