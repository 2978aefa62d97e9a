/** What requests may be in a world, for documents. */
import type { WebhookObject } from "#webhooks/catalogue/field";
import type { AskedIn } from "../../schema/public-schema.ts";
import type { VersionCalendar } from "../../versions/calendar.ts";
import type { Profile } from "../../worlds/world.ts";
import type { Registry } from "../registry.ts";

export interface Asked {
  readonly profile: Profile;
  readonly calendar: VersionCalendar;
  /** Unix seconds. */
  readonly now: number;
}

/** Migrations that an app may switch: others are over, or have not begun. */
export const openMigrations = ({ calendar, now }: Pick<Asked, "calendar" | "now">): string[] =>
  calendar.migrations.filter(({ start, end }) => start <= now && now < end).map(({ name }) => name);

export function askedIn(registry: Registry, where: Asked): AskedIn {
  return {
    profile: where.profile,
    namesOf(what) {
      if (what === "migrations") return openMigrations(where);
      const names = registry.webhookFields.namesOf(what as WebhookObject);
      if (names.length === 0) throw new Error(`nothing has the names of ${what}`);
      return names;
    },
  };
}
