/** The section `ads` of a world file. */
import { type Static, Type } from "typebox";
import { closedMap, idOf, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { deleteAd, findAd, insertAd, listAds, saveAd } from "./ads.store.ts";
import type { Ad } from "./rule.ts";

const entry = closedMap({
  id: worldId,
  app: idOf("app"),
  /** The ad's campaign; by default the campaign has the ad's own id. */
  campaign_id: Type.Optional(worldId),
  /**
   * An ad with the objective `APP_INSTALLS` or `APP_ENGAGEMENT` claims events of its own app. An ad with another objective claims events of the
   * tracked apps (ATTR-7).
   */
  objective: Type.String({ minLength: 1, default: "APP_INSTALLS" }),
  tracked_apps: Type.Array(idOf("app"), { default: [] }),
});

const adOf = ({ campaign_id, ...ad }: Static<typeof entry>): Ad => ({ ...ad, campaign_id: campaign_id ?? ad.id });

export const adSection = ownedSection({
  key: "ads",
  nodeType: "ad",
  owner: "app",
  entry,
  insert: (tx, input) => insertAd(tx, adOf(input)),
  find: findAd,
  list: listAds,
  replace: (tx, input) => saveAd(tx, adOf(input)),
  remove: (tx, _app, id) => deleteAd(tx, id),
});
