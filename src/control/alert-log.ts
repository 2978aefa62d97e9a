/** Logs the alerts of features, and counts them for the metrics (D-359). Problems that are not alerts are logged by the code that detects them. */
import { type Alert, alertLevels } from "#control-contract/alert";
import type { Registry } from "#graph/contract/registry";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { Log } from "#telemetry/log";

/** Collects the alerts of all features. The promise rejects if the database cannot be reached. */
export async function featureAlerts({ features }: Registry, world: OpenWorld): Promise<readonly Alert[]> {
  const alerts: Alert[] = [];
  // The features are read one after the other, so that alerts use only one connection to PostgreSQL.
  for (const feature of features) alerts.push(...((await feature.alerts?.(world)) ?? []));
  return alerts;
}

/** Counts the alerts of features at each level. */
export const countLevels = (alerts: readonly Alert[]) =>
  alertLevels.map((level) => ({ level, count: alerts.filter((alert) => alert.level === level).length }));

/** The interval at which alerts are logged. A minute is short enough, because the problems that alerts report last for hours. */
const LOOK_EVERY_MS = 60_000;
/** The greatest number of alerts that the log remembers, of all worlds together. When this number is reached, further alerts are not logged. */
const KNOWN_MAX = 10_000;

export class AlertLog {
  readonly #registry: Registry;
  readonly #worlds: () => Iterable<OpenWorld>;
  readonly #log: Pick<Log, "warn" | "info">;
  /** The alerts that existed at the last check, by world, kind and node. */
  #known = new Map<string, Alert>();

  constructor(registry: Registry, worlds: () => Iterable<OpenWorld>, log: Pick<Log, "warn" | "info">) {
    this.#registry = registry;
    this.#worlds = worlds;
    this.#log = log;
  }

  /** Checks the alerts at once and then each minute, until `ending` is aborted. */
  watch(ending: AbortSignal): void {
    void this.look();
    // A timer checks the alerts, because some alerts begin without an event, when too much time has passed.
    const timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    timer.unref();
    const end = (): void => {
      clearInterval(timer);
      ending.removeEventListener("abort", end);
    };
    ending.addEventListener("abort", end);
  }

  /**
   * Logs the alerts that began or ended since the last call, except notices, because a notice describes an intended situation. The promise
   * of this function never rejects.
   */
  async look(): Promise<void> {
    const now = new Map<string, Alert>();
    for (const world of this.#worlds()) {
      const isOf = (name: string): boolean => name.startsWith(`${world.name} `);
      const alerts = await featureAlerts(this.#registry, world).catch(() => undefined);
      // If the alerts of a world cannot be read, its database has a problem, which is logged elsewhere. In this case the log
      // keeps the world's earlier alerts.
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
