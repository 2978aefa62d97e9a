/** Finds the operations of each address and method, and the versions that serve them. */
import { formatVersion, type Version } from "#kernel/versions";
import type { SurfaceName } from "../../pipeline/request.ts";
import type { VersionCalendar } from "../../versions/calendar.ts";
import { fixedVersions, isReleased } from "../../versions/resolve.ts";
import type { Profile } from "../../worlds/world.ts";
import type { Endpoint, Registry } from "../registry.ts";

export interface OpenapiOptions {
  readonly profile: Profile;
  readonly calendar: VersionCalendar;
  /** World time in Unix seconds. The time decides which marketing versions are served. */
  readonly now: number;
  /** The absolute address at which the server serves each surface. */
  readonly addresses: Readonly<Record<SurfaceName, string>>;
  /** The node type, if the OpenAPI document has only the operations of one node type. Absent if the OpenAPI document has all node types. */
  readonly type?: string;
  /** The surface, if the OpenAPI document has only the operations of one surface. Absent if the OpenAPI document has all surfaces. */
  readonly surface?: SurfaceName;
}

/** A path and method of the document, with one operation for each node type that has this edge. */
export interface Served {
  readonly path: string;
  readonly method: string;
  readonly surfaces: Set<SurfaceName>;
  readonly endpoints: Endpoint[];
  /** The suffix of the operation's name in the document, if the operation has a second path. The suffix is empty for the operation's first path. */
  readonly suffix: string;
}

export const methodOf = ({ served }: Endpoint): string => served?.contract.method ?? "GET";

export const edgeOf = ({ served }: Endpoint): string | undefined => served?.contract.edge ?? undefined;

/** The node type of an endpoint. For an endpoint whose path has no id, the path itself. */
export const typeOf = (endpoint: Endpoint): string => endpoint.nodeType ?? edgeOf(endpoint) ?? "root";

/** Changes `chatapp_account` to `ChatappAccount`, and `listLabels` to `ListLabels`. */
export const pascal = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase());

/** All paths that the profile serves, sorted. */
export function servedAddresses(registry: Registry, { profile, type, surface: only }: OpenapiOptions): Served[] {
  const found = new Map<string, Served>();
  for (const endpoint of registry.endpoints) {
    if (type !== undefined && typeOf(endpoint) !== type) continue;
    const { access } = endpoint;
    const method = methodOf(endpoint);
    for (const surface of [...access.surfaces, ...(profile === "clients" ? (access.clientsSurfaces ?? []) : [])]) {
      if (only !== undefined && surface !== only) continue;
      for (const { path, suffix } of addressesOf(endpoint, surface)) {
        const key = `${method} ${path}`;
        const served = found.get(key) ?? { path, method, surfaces: new Set(), endpoints: [], suffix };
        served.surfaces.add(surface);
        if (!served.endpoints.includes(endpoint)) served.endpoints.push(endpoint);
        found.set(key, served);
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function addressesOf(endpoint: Endpoint, surface: SurfaceName): Pick<Served, "path" | "suffix">[] {
  const { nodeType, served, access } = endpoint;
  const edge = edgeOf(endpoint);
  const below = `${nodeType === undefined ? "" : "/{id}"}${edge === undefined ? "" : `/${edge}`}`;
  const prefix = served?.contract.alsoUnder;
  const addresses = [
    { path: below, suffix: "" },
    ...(prefix === undefined ? [] : [{ path: `/${prefix}${below}`, suffix: `Under${pascal(prefix)}` }]),
  ];
  if (fixedVersions[surface] !== undefined || access.versions === "unversioned") return addresses;
  const versioned = addresses.map(({ path, suffix }) => ({ path: `/{version}${path}`, suffix }));
  if (access.versions !== "marketingOrCurrent") return versioned;
  // D-03: in the interface, the address of this operation has no version.
  return [...versioned, ...addresses.map(({ path, suffix }) => ({ path, suffix: `${suffix}WithoutVersion` }))];
}

/** The versions that serve at least one of the endpoints at the time `now`, oldest first. */
export function versionsOf(endpoints: readonly Endpoint[], options: Pick<OpenapiOptions, "calendar" | "now">): string[] {
  const versions = endpoints.flatMap((endpoint) => versionsOfOne(endpoint, options));
  return [...new Set(versions)].sort((one, other) => one - other).map(formatVersion);
}

function versionsOfOne({ access }: Endpoint, { calendar, now }: Pick<OpenapiOptions, "calendar" | "now">): readonly Version[] {
  switch (access.versions) {
    case "platform":
      return calendar.platform.filter((release) => isReleased(release, now)).map(({ version }) => version);
    case "migrationIntents":
      return calendar.migrationIntents;
    case "marketing":
    case "marketingOrCurrent":
      return calendar.marketing
        .filter(({ released, until }) => released <= now && (until === undefined || until > now))
        .map(({ version }) => version);
    case "unversioned":
      return [];
  }
}
