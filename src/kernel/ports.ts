/**
 * Features meet by name: a feature registers a typed reader under its node type, another asks for it by that name.
 * Each feature adds its reader's type by declaration merging:
 *
 *     declare module "#kernel/readers" { interface Readers { page: PageReader } }
 */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it by declaration merging.
export interface Ports {}

export class PortRegistry {
  readonly #ports = new Map<string, unknown>();

  register<Name extends keyof Ports & string>(name: Name, reader: Ports[Name]): void {
    if (this.#ports.has(name)) throw new Error(`two rooms register a reader named ${name}`);
    this.#ports.set(name, reader);
  }

  registerAll(ports: Partial<Ports>): void {
    for (const [name, port] of Object.entries(ports)) this.register(name as keyof Ports & string, port as Ports[keyof Ports & string]);
  }

  /** Asking for a reader that no room registered is a programmer's mistake. */
  of<Name extends keyof Ports & string>(name: Name): Ports[Name] {
    const reader = this.#ports.get(name);
    if (reader === undefined) throw new Error(`no room registers a reader named ${name}`);
    return reader as Ports[Name];
  }
}
