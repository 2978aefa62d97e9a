/** `ads` of a world file (operating.md). */
import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { deleteAd, findAd, insertAd, listAds, saveAd } from "./ads.store.ts";
import type { Ad } from "./rule.ts";

const entry = Type.Object(
  {
    id: worldId,
    app: worldId,
    /** An ad that stands alone is a campaign of its own. */
    campaign_id: Type.Optional(worldId),
    /** `APP_INSTALLS` and `APP_ENGAGEMENT` claim the ad's own app; any other claims the tracked apps (ATTR-7). */
    objective: Type.String({ minLength: 1, default: "APP_INSTALLS" }),
    tracked_apps: Type.Array(worldId, { default: [] }),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

const adOf = (given: WorldEntry): Ad => {
  const { id, app, campaign_id = id, objective, tracked_apps } = given as Entry;
  return { id, app, campaign_id, objective, tracked_apps };
};

export const adSection: WorldSection = {
  key: "ads",
  entry,
  references: (given) => {
    const { app, tracked_apps } = given as Entry;
    return [{ path: "app", types: ["app"], id: app }, ...tracked_apps.map((id, index) => ({ path: `tracked_apps[${index}]`, types: ["app"], id }))];
  },
  insert: (tx, given) => insertAd(tx, adOf(given)),
  find: async (reader, id) => (await findAd(reader, id)) as WorldEntry | undefined,
  async list(reader, page) {
    const found = await listAds(reader, page);
    return { ...found, rows: found.rows as unknown as WorldEntry[] };
  },
  async replace(tx, given) {
    const ad = adOf(given);
    if ((await findAd(tx, ad.id))?.app !== ad.app) throw new WorldProblem("app", "cannot change");
    await saveAd(tx, ad);
  },
  remove: (tx, id) => deleteAd(tx, id),
};
