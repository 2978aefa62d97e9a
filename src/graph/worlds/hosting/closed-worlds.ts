/**
 * Serves requests of strangers to worlds that are closed (D-333). Opening a world costs files, connections and time, so a stranger who names many
 * worlds must not open them. A request opens a closed world only if it shows something that the world has stored: a token, or a node that can be used
 * without a token. Until then an empty world answers, and the same empty world answers for a world that does not exist. Nobody therefore learns from
 * an answer which worlds exist.
 */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { Door } from "../../pipeline/request.ts";
import { findNode } from "../nodes.store.ts";
import type { OpenWorld } from "../open-world.ts";
import { storedProfile } from "../settings.ts";
import type { Profile } from "../world.ts";

/** Reads in a closed world. Undefined if the world does not exist, or if nothing is stored of it. */
export type Look = <T>(read: (reader: Reader) => Promise<T>) => Promise<T | undefined>;

/** The empty world that answers instead of a world that is closed, or that does not exist. */
export interface Outside {
  readonly world: OpenWorld;
  readonly door: Door;
  /** The caller does not have to leave the world. */
  leave(): void;
}

export class ClosedWorlds {
  readonly #openEmpty: (profile: Profile | undefined) => Promise<OpenWorld>;
  readonly #empty = new Map<Profile | undefined, Promise<OpenWorld>>();

  /** `openEmpty` opens an empty world that stores nothing on a disk, with the server's own profile unless a profile is given. */
  constructor(openEmpty: (profile: Profile | undefined) => Promise<OpenWorld>) {
    this.#openEmpty = openEmpty;
  }

  async outside(look: Look): Promise<Outside> {
    // Errors have the form of the world's profile.
    const profile = await look(storedProfile).catch(() => undefined);
    const world = await this.#emptyWorld(profile);
    return { world, door: new ClosedDoor(look, world), leave: () => {} };
  }

  /** Closes the empty worlds. */
  async close(): Promise<void> {
    for (const opening of this.#empty.values()) await opening.then((world) => world.close());
  }

  #emptyWorld(profile: Profile | undefined): Promise<OpenWorld> {
    let opening = this.#empty.get(profile);
    if (opening === undefined) {
      opening = this.#openEmpty(profile);
      // A failed opening is not kept, so that the next request tries again.
      opening.catch(() => this.#empty.delete(profile));
      this.#empty.set(profile, opening);
    }
    return opening;
  }
}

class ClosedDoor implements Door {
  isOpened = false;
  readonly #look: Look;
  readonly #empty: OpenWorld;
  readonly #shown = new Set<string>();

  constructor(look: Look, empty: OpenWorld) {
    this.#look = look;
    this.#empty = empty;
  }

  async showToken(value: string): Promise<void> {
    // The parts of a batch mostly have the same token.
    if (this.#shown.has(value)) return;
    this.#shown.add(value);
    await this.#openIf(async (reader) => (await this.#empty.tokens.findStored(reader, value)) !== undefined);
  }

  async showNode(id: NodeId): Promise<void> {
    await this.#openIf(async (reader) => (await findNode(reader, id)) !== undefined);
  }

  async #openIf(isStored: (reader: Reader) => Promise<boolean>): Promise<void> {
    if (this.isOpened) return;
    // Data of an earlier version may be unreadable until the world opens, which migrates the data. If the database has failed, the opening reports it.
    this.isOpened = (await this.#look(isStored).catch(() => true)) === true;
  }
}
