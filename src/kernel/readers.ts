/**
 * Rooms meet by name: a room registers a typed reader under its node type, another asks for it by that name.
 * Each room adds its reader's type by declaration merging:
 *
 *     declare module "#kernel/readers" { interface Readers { page: PageReader } }
 */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it by declaration merging.
export interface Readers {}

export class ReaderRegistry {
  readonly #readers = new Map<string, unknown>();

  register<Name extends keyof Readers & string>(name: Name, reader: Readers[Name]): void {
    if (this.#readers.has(name)) throw new Error(`two rooms register a reader named ${name}`);
    this.#readers.set(name, reader);
  }

  /** Asking for a reader that no room registered is a programmer's mistake. */
  of<Name extends keyof Readers & string>(name: Name): Readers[Name] {
    const reader = this.#readers.get(name);
    if (reader === undefined) throw new Error(`no room registers a reader named ${name}`);
    return reader as Readers[Name];
  }
}
