/** Makes a world for a test file, on a running server or on a new server. */
import { randomUUID } from "node:crypto";
import { Connection } from "./connection.ts";
import type { WorldFile } from "./control-api.ts";
import { countWorld, type Server, sharedServer } from "./server.ts";
import { type GraphAddresses, World } from "./world.ts";

export interface WorldOptions {
  /**
   * The first content of the world: a world file as an object or as YAML. Default: a copy of the server's first world, which is the demo world or the
   * world of `plaza exec --world`. `{}` makes an empty world.
   */
  readonly world?: WorldFile | string | undefined;
  /** The name of the test, by which `plaza exec --trace` groups what happens in the world. */
  readonly test?: string | undefined;
}

export interface PlazaOptions extends WorldOptions {
  /** The test runner's function `afterAll` or `after`, which deletes the world after the tests of the file. */
  readonly after?: ((done: () => Promise<void>) => unknown) | undefined;
}

/** The world of a test file. */
export class Plaza extends World {
  readonly #server: Server;
  readonly #onClosed: () => Promise<unknown>;
  #closing: Promise<void> | undefined;

  constructor(server: Server, name: string, onClosed: () => Promise<unknown>) {
    super(name, addressesIn(server.addresses, name), server.connection);
    this.#server = server;
    this.#onClosed = onClosed;
  }

  /** Makes another world on the same server, e.g. for a single test. */
  newWorld(options: WorldOptions = {}): Promise<Plaza> {
    return openWorld(this.#server, options);
  }

  /** Deletes the world. Further calls do nothing. */
  override close(): Promise<void> {
    this.#closing ??= this.#delete();
    return this.#closing;
  }

  async #delete(): Promise<void> {
    await super.close();
    await this.#onClosed();
  }
}

/** Makes a world for a test file. Starts a server if the environment does not name one. */
export async function withPlaza({ after, ...options }: PlazaOptions = {}): Promise<Plaza> {
  const server = await sharedServer();
  const ofStorm = process.env.STORM_WORLD;
  const plaza = await (ofStorm === undefined ? openWorld(server, options) : worldOfStorm(server, ofStorm, options));
  after?.(() => plaza.close());
  return plaza;
}

/** Returns the server as a program sees it that knows only one world: every address leads to this world. */
export const ofWorld = ({ connection, stop }: Server, { name, addresses }: World): Server => ({
  ...{ addresses, stop },
  connection: new Connection(`${connection.url}/w/${name}`, connection.key, connection.fetch),
});

/** Makes a new world. */
export async function openWorld(server: Server, { world, test }: WorldOptions): Promise<Plaza> {
  const name = `test-${test === undefined ? randomUUID() : `${slugOf(test)}-${randomUUID().slice(0, 8)}`}`;
  const { connection } = server;
  await connection.send("POST", "worlds", { name, file: world ?? (await firstWorldOf(server)) });
  const uncount = countWorld();
  return new Plaza(server, name, () => connection.send("DELETE", `worlds/${name}`).then(uncount));
}

/**
 * The greatest number of characters of the test's name in a world's name. The world's name has at most 57 characters: a prefix, the test's name, and
 * the first digits of a UUID.
 */
const SLUG_CHARACTERS_MAX = 40;

const slugOf = (test: string): string =>
  test
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, "") || "unnamed";

/**
 * The world in which `plaza storm` runs the scenario of this process. The world is not deleted at the end, because the world belongs
 * to storm; a given world file replaces its content.
 */
async function worldOfStorm(server: Server, name: string, { world }: WorldOptions): Promise<Plaza> {
  const plaza = new Plaza(server, name, async () => {});
  if (world === undefined) return plaza;
  const faults = await plaza.faults.list();
  await server.connection.send("DELETE", `worlds/${name}`);
  await server.connection.send("POST", "worlds", { name, file: world });
  for (const { id: _, met: __, ...fault } of faults) await plaza.faults.add(fault);
  return plaza;
}

const firstWorlds = new WeakMap<Server, WorldFile>();

/**
 * Returns the content that the server's first world has when the first test starts. The copy includes the secrets, because the tests and the code
 * under test know them.
 */
async function firstWorldOf(server: Server): Promise<WorldFile> {
  const known = firstWorlds.get(server);
  if (known !== undefined) return known;
  const file = await server.connection.send<WorldFile>("GET", "worlds/default/export?secrets=true");
  firstWorlds.set(server, file);
  return file;
}

/** Matches the path `/w/{world}` at the start of an address: the environment may name the addresses of another world. */
const OF_WORLD = /^\/w\/[^/]+/;

/** The addresses of a world. Below `/w/{world}` each surface of the graph has the same path as at the root. */
function addressesIn(addresses: GraphAddresses, world: string): GraphAddresses {
  const moved = (address: string): string => {
    const { origin, pathname } = new URL(address);
    return `${origin}/w/${world}${pathname.replace(OF_WORLD, "").replace(/^\/$/, "")}`;
  };
  const { baseUrl, appBaseUrl, microblogBaseUrl, adsBaseUrl, socialLoginHost } = addresses;
  return {
    baseUrl: moved(baseUrl),
    appBaseUrl: moved(appBaseUrl),
    microblogBaseUrl: moved(microblogBaseUrl),
    adsBaseUrl: moved(adsBaseUrl),
    socialLoginHost: moved(socialLoginHost),
  };
}
