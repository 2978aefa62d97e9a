/**
 * Finds the destination of a request, which is a world and a surface. The host name and the beginning of the path determine the world and the surface
 * (D-01).
 */
import type { Door, SurfaceName } from "#graph/pipeline/request";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { World } from "#graph/worlds/world";
import { type Awaitable, chain } from "#kernel/turns";
import { hostnameOf } from "./origin.ts";

/** A world that a request uses. The code that serves the request must call `leave` when the request has ended. */
interface EnteredWorld {
  readonly world: World;
  leave(): void;
}

export interface WorldDirectory {
  readonly default: World;
  /** Returns the world if it is open. */
  enterOpen(name: string): Awaitable<EnteredWorld | undefined>;
  /**
   * Returns an empty world that responds instead of a closed or missing world, and the door of the closed or missing world, which decides whether the
   * request may enter the world (D-333).
   */
  outside(name: string): Promise<EnteredWorld & { readonly door: Door }>;
  /** Returns the world; if the world is closed, opens it first. Returns undefined if the world does not exist. */
  enter(name: string): Promise<EnteredWorld | undefined>;
}

/** The address of a surface: a mount on every host name, or on the surface's own host name. */
export interface SurfaceAddress {
  readonly name: SurfaceName;
  /** The text with which the paths of the surface begin, e.g. `/ads`. The surface at the root has the empty text as its mount. */
  readonly mount: string;
  /** The surface's own host name in lower case, without a port. A surface with its own host name is served only under this host name. */
  readonly hostname?: string | undefined;
  /** The world that is served under the surface's own host name; undefined for the first world. */
  readonly world?: string | undefined;
}

/** The world and the surface that a request is for. */
export interface Destination extends EnteredWorld {
  /** The name of the world, as the host name or path of the request gives it; undefined for the first world. */
  readonly worldName: string | undefined;
  /** The door of a closed or missing world. The door is set if `world` is the empty world that responds instead of that world. */
  readonly door?: Door | undefined;
  readonly surface: SurfaceName;
  /**
   * The first part of the path, which determines the world and the surface, without a slash at its end. In links to the surface, the mount follows
   * the host.
   */
  readonly mount: string;
  /** The surface's own host name; undefined if the surface is served on every host name. */
  readonly hostname: string | undefined;
  /** The rest of the path, after the mount. */
  readonly path: string;
}

interface Mounted {
  readonly name: SurfaceName;
  readonly mount: string;
  readonly hostname: string | undefined;
  readonly segments: readonly string[];
}

/** The first segment of a path that names a world. Worlds other than the first one are served below `/w/{world}`, and at `{world}.localhost`. */
const WORLD_SEGMENT = "w";
const LOCALHOST = ".localhost";

/** The destination of a request, before its world is looked up. */
interface Location {
  readonly surface: Pick<Mounted, "name" | "hostname">;
  readonly mount: string;
  readonly path: string;
}

export class Destinations {
  readonly #worlds: WorldDirectory;
  readonly #everywhere: readonly Mounted[];
  readonly #byHostname: ReadonlyMap<string, readonly Mounted[]>;
  readonly #worldOfHostname: ReadonlyMap<string, string>;
  readonly #isHostKept: boolean;

  /** If `isHostKept` is true, links begin with the host of the request. If it is false, links have the name of the world in their path. */
  constructor(worlds: WorldDirectory, surfaces: readonly SurfaceAddress[], isHostKept = true) {
    this.#worlds = worlds;
    this.#isHostKept = isHostKept;
    this.#everywhere = mountedOf(surfaces.filter(({ hostname }) => hostname === undefined));
    const hostnames = new Set(surfaces.flatMap(({ hostname }) => (hostname === undefined ? [] : [hostname])));
    this.#byHostname = new Map([...hostnames].map((hostname) => [hostname, mountedOf(surfaces.filter((surface) => surface.hostname === hostname))]));
    this.#worldOfHostname = new Map(
      surfaces.flatMap(({ hostname, world }) => (hostname === undefined || world === undefined ? [] : [[hostname, world] as const])),
    );
  }

  /**
   * Finds the destination of a request. The caller must leave the destination when the request has ended. If the request names a world that is closed
   * or does not exist, the destination has an empty world and a door.
   */
  find(host: string, path: string): Awaitable<Destination> {
    const named = namedWorld(path);
    const worldName = named?.name ?? this.#worldOfHost(host);
    return worldName === undefined ? this.#findFirst(host, path) : this.#findNamed(host, path, named, worldName);
  }

  /** The first world is never closed or deleted. */
  #findFirst(host: string, path: string): Awaitable<Destination> {
    const location = this.#locationOf(host, "", path);
    return chain(this.#worlds.enterOpen(DEFAULT_WORLD), (entered) => destinationOf(entered as EnteredWorld, location));
  }

  async #findNamed(host: string, path: string, named: NamedWorld | undefined, worldName: string): Promise<Destination> {
    const entered = (await this.#worlds.enterOpen(worldName)) ?? (await this.#worlds.outside(worldName));
    const mount = `/${WORLD_SEGMENT}/${worldName}`;
    const location =
      named === undefined ? this.#locationOf(host, this.#isHostKept ? "" : mount, path) : this.#locationOf(host, mount, path.slice(named.end));
    return destinationOf(entered, location, worldName);
  }

  /**
   * Enters a world whose door has admitted the request; opens the world first. Returns undefined if the world was deleted after the door had admitted
   * the request.
   */
  async goIn(destination: Destination): Promise<Destination | undefined> {
    const entered = destination.worldName === undefined ? undefined : await this.#worlds.enter(destination.worldName);
    return entered && { ...destination, ...entered, door: undefined };
  }

  #locationOf(host: string, mount: string, path: string): Location {
    const mounts = this.#byHostname.size === 0 ? this.#everywhere : (this.#byHostname.get(hostnameOf(host)) ?? this.#everywhere);
    for (const surface of mounts) {
      const end = endOfMount(path, surface.segments);
      if (end !== -1) return { surface, mount: mount + surface.mount, path: path.slice(end) };
    }
    // No surface is mounted at the path, so the base surface responds that the path is unknown.
    return { surface: NOWHERE, mount, path };
  }

  #worldOfHost(host: string): string | undefined {
    const hostname = hostnameOf(host);
    const label = hostname.endsWith(LOCALHOST) && !this.#byHostname.has(hostname) ? hostname.slice(0, -LOCALHOST.length) : "";
    return this.#worldOfHostname.get(hostname) ?? (label === "" || label.includes(".") ? undefined : label);
  }
}

const NOWHERE = { name: "base", hostname: undefined } as const;

const destinationOf = (
  { world, leave, door }: EnteredWorld & { readonly door?: Door },
  { surface: { name, hostname }, mount, path }: Location,
  worldName?: string,
): Destination => ({
  world,
  leave,
  door,
  worldName,
  surface: name,
  mount,
  hostname,
  path: path === "" ? "/" : path,
});

/** Returns the prefix for the ids of a world's apps, because apps of two worlds may have the same id. Apps of the first world have no prefix. */
export const appPrefixOf = ({ worldName = DEFAULT_WORLD }: Pick<Destination, "worldName">): string =>
  worldName === DEFAULT_WORLD ? "" : `${worldName}/`;

/** Sorts the surfaces so that the longest mount comes first. The surface at the root comes last and gets all other paths. */
const mountedOf = (surfaces: readonly SurfaceAddress[]): Mounted[] =>
  surfaces
    .map(({ name, mount, hostname }) => ({ name, mount, hostname, segments: mount.split("/").filter((segment) => segment !== "") }))
    .sort((a, b) => b.segments.length - a.segments.length);

/**
 * Returns the index at which the path continues after the given segments, or -1 if the path does not begin with those segments. D-02: repeated
 * slashes in a path count as one slash.
 */
function endOfMount(path: string, segments: readonly string[]): number {
  let at = 0;
  for (const segment of segments) {
    const start = skipSlashes(path, at);
    if (start === at || !path.startsWith(segment, start)) return -1;
    at = start + segment.length;
    if (at < path.length && path.charCodeAt(at) !== 47) return -1;
  }
  return at;
}

function skipSlashes(path: string, from: number): number {
  let at = from;
  while (path.charCodeAt(at) === 47) at++;
  return at;
}

interface NamedWorld {
  readonly name: string;
  /** The index in the path at which the rest after the world's name begins. */
  readonly end: number;
}

function namedWorld(path: string): NamedWorld | undefined {
  const afterWord = endOfMount(path, [WORLD_SEGMENT]);
  if (afterWord === -1) return undefined;
  const start = skipSlashes(path, afterWord);
  const slash = path.indexOf("/", start);
  const end = slash === -1 ? path.length : slash;
  return start === end ? undefined : { name: path.slice(start, end), end };
}
