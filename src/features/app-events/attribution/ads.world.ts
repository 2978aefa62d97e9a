/** The section `ads` of a world file. */
import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { deleteAd, findAd, insertAd, listAds, saveAd } from "./ads.store.ts";
import type { Ad } from "./rule.ts";

const entry = Type.Object(
  {
    id: worldId,
    app: worldId,
    /** The ad's own id by default. */
    campaign_id: Type.Optional(worldId),
    /** `APP_INSTALLS` and `APP_ENGAGEMENT` claim the ad's own app; any other claims the tracked apps (ATTR-7). */
    objective: Type.String({ minLength: 1, default: "APP_INSTALLS" }),
    tracked_apps: Type.Array(worldId, { default: [] }),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

const adOf = (input: WorldEntry): Ad => {
  const { id, app, campaign_id = id, objective, tracked_apps } = input as Entry;
  return { id, app, campaign_id, objective, tracked_apps };
};

export const adSection: WorldSection = {
  key: "ads",
  entry,
  references: (input) => {
    const { app, tracked_apps } = input as Entry;
    return [{ path: "app", types: ["app"], id: app }, ...tracked_apps.map((id, index) => ({ path: `tracked_apps[${index}]`, types: ["app"], id }))];
  },
  insert: (tx, input) => insertAd(tx, adOf(input)),
  find: async (reader, id) => (await findAd(reader, id)) as WorldEntry | undefined,
  async list(reader, page) {
    const found = await listAds(reader, page);
    return { ...found, rows: found.rows as unknown as WorldEntry[] };
  },
  async replace(tx, input) {
    const ad = adOf(input);
    if ((await findAd(tx, ad.id))?.app !== ad.app) throw new WorldProblem("app", "cannot change");
    await saveAd(tx, ad);
  },
  remove: (tx, id) => deleteAd(tx, id),
};
