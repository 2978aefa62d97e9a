/** Where an operation's tokens stand, as a document says it (D-10, D-12). */
import { type Place, placeNames, schemes } from "#auth/schemes";
import type { Profile } from "../../worlds/world.ts";
import type { Endpoint } from "../registry.ts";
import type { Document } from "./schemas.ts";

/** A token in a body has no scheme: it is a parameter there. */
export const securitySchemes: Readonly<Record<string, Document>> = {
  access_token: { type: "apiKey", in: "query", name: "access_token", description: placeNames.access_token },
  oauth_token: { type: "apiKey", in: "query", name: "oauth_token", description: placeNames.oauth_token },
  bearer: { type: "http", scheme: "bearer", description: "Authorization: Bearer <ACCESS_TOKEN>" },
};

/** The ways to bring tokens, each of them enough: places in one object are needed together. */
export function securityOf(endpoints: readonly Endpoint[], profile: Profile): Document[] {
  const ways = endpoints.flatMap((endpoint) => waysOf(endpoint, profile));
  return [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
}

function waysOf({ access }: Endpoint, profile: Profile): Document[] {
  if (profile === "clients") {
    const anyPlace: Document[] = [{ bearer: [] }, { access_token: [] }, { oauth_token: [] }];
    return access.tokenless === undefined ? anyPlace : [...anyPlace, {}];
  }
  const { places, need } = schemes[access.scheme] as { places: readonly Place[]; need: "all" | "one" };
  const named = places.filter((place) => place !== "body");
  return need === "all" ? [Object.fromEntries(named.map((place) => [place, []]))] : named.map((place) => ({ [place]: [] }));
}

/** What the ways do not say. */
export function securityNotes(endpoints: readonly Endpoint[], profile: Profile): string[] {
  const isOf = (is: (scheme: { places: readonly Place[]; need: string; developmentOnly?: readonly Place[] }) => boolean): boolean =>
    endpoints.some(({ access }) => is(schemes[access.scheme]));
  return [
    ...(profile === "strict" && isOf(({ need }) => need === "all")
      ? ["The same token, or tokens of the same app, must stand in all three places."]
      : []),
    ...(isOf(({ places }) => places.includes("body")) || profile === "clients" ? ["A token may also stand in the body, as `access_token`."] : []),
    ...(profile === "strict" && isOf(({ developmentOnly }) => developmentOnly !== undefined)
      ? ["The query's `access_token` serves while the app is in development mode."]
      : []),
  ];
}
