/**
 * Handles requests without a control key to worlds that are closed (D-333). Opening a world costs files, connections and time, so an attacker who
 * names many worlds must not make the server open them. A request opens a closed world only if it contains something that the world has stored: a
 * token, or the id of a node that can be used without a token. Until a request presents a stored token or node id, an empty world answers it. An
 * empty world also answers for a world that does not exist, so a response never reveals which worlds exist.
 */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { Door } from "../../pipeline/request.ts";
import { findNode } from "../nodes.store.ts";
import type { OpenWorld } from "../open-world.ts";
import { storedProfile } from "../settings.ts";
import type { Profile } from "../world.ts";

/** Reads stored data of a closed world. Undefined if the world does not exist, or has no stored data. */
export type Look = <T>(read: (reader: Reader) => Promise<T>) => Promise<T | undefined>;

/** The empty world that answers in place of a world that is closed or does not exist. */
export interface Outside {
  readonly world: OpenWorld;
  readonly door: Door;
  /** Does nothing, because an empty world does not count the requests that it answers. */
  leave(): void;
}

export class ClosedWorlds {
  readonly #openEmpty: (profile: Profile | undefined) => Promise<OpenWorld>;
  readonly #empty = new Map<Profile | undefined, Promise<OpenWorld>>();

  /** `openEmpty` opens an empty world that is not stored on disk. Without `profile`, the world has the server's own profile. */
  constructor(openEmpty: (profile: Profile | undefined) => Promise<OpenWorld>) {
    this.#openEmpty = openEmpty;
  }

  async outside(look: Look): Promise<Outside> {
    // The errors of the empty world have the form of the closed world's profile.
    const profile = await look(storedProfile).catch(() => undefined);
    const world = await this.#emptyWorld(profile);
    return { world, door: new ClosedDoor(look, world), leave: () => {} };
  }

  /** Closes the empty worlds that answer for closed worlds. */
  async close(): Promise<void> {
    for (const opening of this.#empty.values()) await opening.then((world) => world.close());
  }

  #emptyWorld(profile: Profile | undefined): Promise<OpenWorld> {
    let opening = this.#empty.get(profile);
    if (opening === undefined) {
      opening = this.#openEmpty(profile);
      // If opening a world fails, the failure is not cached, so the next request tries again.
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
    // The requests of a batch mostly have the same token, so each token is looked up only once.
    if (this.#shown.has(value)) return;
    this.#shown.add(value);
    await this.#openIf(async (reader) => (await this.#empty.tokens.findStored(reader, value)) !== undefined);
  }

  async showNode(id: NodeId): Promise<void> {
    await this.#openIf(async (reader) => (await findNode(reader, id)) !== undefined);
  }

  async #openIf(isStored: (reader: Reader) => Promise<boolean>): Promise<void> {
    if (this.isOpened) return;
    // The stored data may be of an earlier version, which can be read only after the world has opened and migrated its data. If the stored data
    // cannot be read, the world is opened. If the database has failed, opening the world reports the failure.
    this.isOpened = (await this.#look(isStored).catch(() => true)) === true;
  }
}
