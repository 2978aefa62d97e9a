/**
 * Ports connect features by name: a feature provides a typed port, and another feature, or code below the features, gets the port by its name. The
 * feature that owns a port declares the type of its port by declaration merging:
 *
 * declare module "#kernel/ports" { interface Ports { page: PagePort } }
 */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it by declaration merging.
export interface Ports {}

export type PortName = keyof Ports & string;

export class PortRegistry {
  readonly #ports = new Map<string, unknown>();

  register<Name extends PortName>(name: Name, port: Ports[Name]): void {
    if (this.#ports.has(name)) throw new Error(`the port ${name} is provided twice`);
    this.#ports.set(name, port);
  }

  registerAll(ports: Partial<Ports>): void {
    for (const [name, port] of Object.entries(ports)) this.register(name as PortName, port as Ports[PortName]);
  }

  has(name: PortName): boolean {
    return this.#ports.has(name);
  }

  /** Returns the port with the given name. Throws if no feature provides the port, which is a mistake in the server's code. */
  get<Name extends PortName>(name: Name): Ports[Name] {
    const port = this.#ports.get(name);
    if (port === undefined) throw new Error(`no feature provides the port ${name}`);
    return port as Ports[Name];
  }
}
