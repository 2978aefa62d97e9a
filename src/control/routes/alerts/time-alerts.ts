/** What time brings: versions that end, and what never comes while the clock is stopped. */
import type { Alert } from "#control-contract/alert";
import type { Registry } from "#graph/contract/registry";
import type { MarketingVersion } from "#graph/versions/calendar";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { formatVersion } from "#kernel/versions";
import { deadlinesOf } from "../clock.ts";
import { type UsedVersion, usedVersions } from "../used-versions.ts";

/** As long as the interface announces the end of a version before (LIM-14). */
const SOON_SECONDS = 90 * 86_400;

const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

export async function versionAlerts(world: World, registry: Registry, requests: readonly RequestEntry[]): Promise<readonly Alert[]> {
  const now = unixSeconds(world.clock);
  const ending = world.calendar.marketing.filter(({ until }) => until !== undefined && until > now && until <= now + SOON_SECONDS);
  // Mostly there are none, and then no request has to be looked at.
  if (ending.length === 0) return [];
  const used = await usedVersions(world, registry, requests);
  return ending.flatMap((version) => {
    const at = version.until as number;
    const changed = used.filter(({ asked, servedAt }) => asked === formatVersion(version.version) && servedAt(at) !== servedAt(now));
    return [...Map.groupBy(changed, ({ app }) => app)].map(([app, uses]) => versionAlert(version, at, app, uses));
  });
}

function versionAlert({ version }: MarketingVersion, at: number, app: string, uses: readonly UsedVersion[]): Alert {
  const later = uses.map(({ servedAt }) => servedAt(at));
  const refusal = later.find((served) => typeof served !== "string");
  const operations = uses.map(({ operation }) => operation).join(", ");
  const becomes = refusal === undefined ? `${later[0]} serves them` : "they are refused";
  return {
    // An upgrade may go unnoticed, a refusal does not.
    ...{ kind: "version_ends", level: refusal === undefined ? "notice" : "warning", of: app, time: at },
    text: `App ${app} asks for ${formatVersion(version)} in ${operations}. That version ends on ${dayOf(at)}; then ${becomes}.`,
  };
}

/** What only tidies up is missed by nobody. */
const isMissed = ({ kind }: { readonly kind: string }): boolean => !kind.endsWith("_retention");

export async function clockAlerts(world: OpenWorld): Promise<readonly Alert[]> {
  if (!world.clock.isFrozen) return [];
  const due = (await deadlinesOf(world)).filter(isMissed);
  const [next] = due;
  if (next === undefined) return [];
  const others = due.length === 1 ? "" : `, and ${due.length - 1} more`;
  return [
    {
      ...{ kind: "clock_stopped", level: "notice", of: world.name, time: next.time },
      text: `The world's clock is stopped, and ${next.kind.replaceAll("_", " ")} of ${next.of} waits for ${new Date(next.time * 1000).toISOString()}${others}. Nothing is due before the clock runs or is moved.`,
    },
  ];
}
