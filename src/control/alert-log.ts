/** Writes the alerts of features into the log and into the metrics (D-359). The server's own parts log their problems themselves. */
import { type Alert, alertLevels } from "#control-contract/alert";
import type { Registry } from "#graph/contract/registry";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { Log } from "#telemetry/log";

/** Rejects if the database cannot be reached. */
export async function featureAlerts({ features }: Registry, world: OpenWorld): Promise<readonly Alert[]> {
  const alerts: Alert[] = [];
  // The worlds are read one after the other, so that alerts take one connection to PostgreSQL and not several.
  for (const feature of features) alerts.push(...((await feature.alerts?.(world)) ?? []));
  return alerts;
}

/** The number of alerts of a level in a world. */
export const countLevels = (alerts: readonly Alert[]) =>
  alertLevels.map((level) => ({ level, count: alerts.filter((alert) => alert.level === level).length }));

/** A problem may be logged up to a minute later, because these problems last for hours. */
const LOOK_EVERY_MS = 60_000;
/** The greatest number of alerts that are remembered, of all worlds together. Alerts beyond this number are not logged. */
const KNOWN_MAX = 10_000;

export class AlertLog {
  readonly #registry: Registry;
  readonly #worlds: () => Iterable<OpenWorld>;
  readonly #log: Pick<Log, "warn" | "info">;
  /** The alerts that were in the log when they were last looked at, by world, kind and node. */
  #known = new Map<string, Alert>();

  constructor(registry: Registry, worlds: () => Iterable<OpenWorld>, log: Pick<Log, "warn" | "info">) {
    this.#registry = registry;
    this.#worlds = worlds;
    this.#log = log;
  }

  /** Looks at the alerts at once and then each minute, until `ending`. */
  watch(ending: AbortSignal): void {
    void this.look();
    // This is a timer of the machine, because an alert may begin without any event, when too much time has passed.
    const timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    timer.unref();
    const end = (): void => {
      clearInterval(timer);
      ending.removeEventListener("abort", end);
    };
    ending.addEventListener("abort", end);
  }

  /** Logs the alerts that began or ended since the last call. Notices are intended, and not logged. Never rejects. */
  async look(): Promise<void> {
    const now = new Map<string, Alert>();
    for (const world of this.#worlds()) {
      const isOf = (name: string): boolean => name.startsWith(`${world.name} `);
      const alerts = await featureAlerts(this.#registry, world).catch(() => undefined);
      // The problem of the database is in the log already, and the known alerts stay known.
      if (alerts === undefined) for (const [name, alert] of this.#known) if (isOf(name)) now.set(name, alert);
      for (const alert of alerts ?? []) if (alert.level !== "notice") now.set(`${world.name} ${alert.kind} ${alert.of}`, alert);
    }
    const known = this.#known;
    this.#known = new Map([...now].slice(0, KNOWN_MAX));
    for (const [name, { kind, of, text }] of this.#known) {
      if (!known.has(name)) this.#log.warn({ world: worldOf(name), kind, of, alert: text }, "an alert began");
    }
    for (const [name, { kind, of }] of known) if (!now.has(name)) this.#log.info({ world: worldOf(name), kind, of }, "an alert ended");
  }
}

const worldOf = (name: string): string => name.split(" ", 1)[0] as string;
