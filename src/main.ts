/** Puts the house together: the only file that knows every room. */
import { apps } from "#features/apps";
import { businesses } from "#features/businesses";
import { customLabels } from "#features/custom-labels";
import { microblogAccounts } from "#features/microblog-accounts";
import { pages } from "#features/pages";
import { personas } from "#features/personas";
import { socialAccounts } from "#features/social-accounts";
import { tokenInspection } from "#features/token-inspection";
import { users } from "#features/users";
import { Registry } from "#graph/registry";
import type { Room } from "#graph/room";

/** In the order in which a world file's sections are loaded. */
export const rooms: readonly Room[] = [users, businesses, apps, pages, socialAccounts, microblogAccounts, customLabels, personas, tokenInspection];

export const buildRegistry = (): Registry => new Registry(rooms);
