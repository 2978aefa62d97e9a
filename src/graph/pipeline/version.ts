/** The step `version`: which version serves a request (VER-1 to VER-7, D-03, D-81 to D-83). */
import { unixSeconds } from "#kernel/clock";
import type { ReadRequest } from "../contract/operation.ts";
import { isMigrationOn, readMigrationsOverride } from "../versions/migration-windows.ts";
import { servedVersion } from "../versions/resolve.ts";
import { isMarketing } from "../versions/rules.ts";
import type { Incoming, Versioned, Visible } from "./stages.ts";

/** Throws `unknownPath` or `versionDeprecated` where the endpoint's rule does not serve what was asked. */
export function chooseVersion({ request, world, now }: Incoming, visible: Visible): Versioned {
  const { address, method, credentials, dead, app, node, endpoint, caller, subject, check } = visible;
  const { access, names } = endpoint;
  const asked = address.version;
  const served = servedVersion({ rule: access.versions, asked, app: caller.app, calendar: world.calendar, now, names, path: request.path });
  return { address, method, credentials, dead, app, node, endpoint, caller, subject, check, served };
}

/** VER-5c: an app's first marketing request sets its floor for good. One whose text is defective is none. */
export const isFirstMarketingRequest = ({ request }: Incoming, { endpoint, caller }: Versioned): boolean =>
  isMarketing(endpoint.access.versions) && caller.app.marketing_first_used_time === 0 && request.defect === undefined;

export async function recordMarketingUse({ world }: Incoming, { caller: { app } }: Versioned): Promise<void> {
  await world.database.write((tx) => world.ports.get("app_writes").recordMarketingUse(tx, app.id, unixSeconds(world.clock)));
}

/** VER-7h. The override is read, and a wrong one refused, whether or not the operation looks at a migration. */
export function migrationsOf({ request, world, now }: Incoming, { caller: { app } }: Versioned): ReadRequest["isMigrated"] {
  const override = readMigrationsOverride(request.query.migrations_override ?? request.body.migrations_override, world.calendar.migrations, now);
  return (name, as = app) => {
    const window = world.calendar.migrations.find((known) => known.name === name);
    return window !== undefined && isMigrationOn(window, as, override, now);
  };
}
