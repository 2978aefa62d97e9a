/** The section `ads` of a world file. */
import { type Static, Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { deleteAd, findAd, insertAd, listAds, saveAd } from "./ads.store.ts";
import type { Ad } from "./rule.ts";

const entry = closedMap(
  {
    id: described("the ad's id", worldId),
    app: described("the app that the ad is for", idOf("app")),
    campaign_id: Type.Optional(described("the id of the ad's campaign (default: the ad's id)", worldId)),
    // ATTR-7: the objective decides which events can be attributed to the ad.
    objective: Type.String({
      minLength: 1,
      default: "APP_INSTALLS",
      description:
        "the ad's objective: with APP_INSTALLS or APP_ENGAGEMENT, events of `app` are attributed to the ad; with any other objective, events of `tracked_apps`",
    }),
    tracked_apps: Type.Array(idOf("app"), {
      default: [],
      description: "the apps whose events are attributed to the ad, if the objective is neither APP_INSTALLS nor APP_ENGAGEMENT",
    }),
  },
  "an ad, to which installs and events of apps are attributed",
);

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
