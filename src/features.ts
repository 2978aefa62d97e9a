/** The list of all features that Plaza serves. No other file lists the features. */
import { appEvents } from "#features/app-events";
import { apps } from "#features/apps";
import { businesses } from "#features/businesses";
import { chatappAccounts } from "#features/chatapp-accounts";
import { customLabels } from "#features/custom-labels";
import { liveVideos } from "#features/live-videos";
import { login } from "#features/login";
import { microblogAccounts } from "#features/microblog-accounts";
import { microblogInsights } from "#features/microblog-insights";
import { migrationIntents } from "#features/migration-intents";
import { pages } from "#features/pages";
import { personas } from "#features/personas";
import { places } from "#features/places";
import { productCatalogs } from "#features/product-catalogs";
import { productFeeds } from "#features/product-feeds";
import { requiredActions } from "#features/required-actions";
import { selfMessaging } from "#features/self-messaging";
import { socialAccounts } from "#features/social-accounts";
import { taggedMedia } from "#features/tagged-media";
import { tokenInspection } from "#features/token-inspection";
import { users } from "#features/users";
import { webhookOverrides } from "#features/webhook-overrides";
import { webhookSubscriptions } from "#features/webhook-subscriptions";
import type { Feature, Setting } from "#graph/contract/feature";

/** The features, in the order in which the sections of a world file are loaded. */
export const features: readonly Feature[] = [
  users,
  businesses,
  apps,
  pages,
  socialAccounts,
  microblogAccounts,
  customLabels,
  personas,
  tokenInspection,
  login,
  requiredActions,
  places,
  liveVideos,
  taggedMedia,
  microblogInsights,
  productCatalogs,
  productFeeds,
  chatappAccounts,
  webhookOverrides,
  webhookSubscriptions,
  selfMessaging,
  migrationIntents,
  appEvents,
];

/** The options of all features for operators. */
export const settings: readonly Setting[] = features.flatMap((feature) => feature.settings ?? []);
