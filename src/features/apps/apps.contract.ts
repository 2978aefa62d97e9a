import { Type } from "typebox";
import { ownApp } from "#auth/policy";
import { type Access, type Field, type FieldSet, writeOperation } from "#graph/contract/operation";
import { NAMES_OF } from "#graph/schema/schema-node";
import type { AppRow } from "./apps.store.ts";

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: ownApp,
  errorForm: "wrapped",
} as const satisfies Partial<Access>;

const migrations = Type.Record(Type.String(), Type.Boolean());
const text: Field<AppRow> = { schema: Type.String(), policy: ownApp };

export const appNode: FieldSet<AppRow> = {
  fields: {
    id: text,
    name: text,
    migrations: {
      schema: migrations,
      policy: ownApp,
      // VER-7e: the field `migrations` says for each migration whose transition period has begun whether the migration is on for the app.
      of: (row, { world, isMigrated }) => {
        // The migrations are read from the app's row and not from the cached facts, because an update may have written the row a moment ago (D-33).
        const app = { created_time: row.created_time, migrations: JSON.parse(row.migrations) };
        return Object.fromEntries(world.calendar.migrations.map(({ name }) => [name, isMigrated(name, app)]));
      },
    },
  },
  defaults: ["id", "name"],
};

export const readApp = { ...access, operation: "readApp", clauses: ["VER-7e"], decisions: ["D-82", "D-165"], errors: [] } as const;

export const updateApp = writeOperation({
  ...access,
  operation: "updateApp",
  summary: "Turns migrations on or off for the app (D-82).",
  clauses: ["VER-7e", "VER-7f"],
  decisions: ["D-82"],
  on: "app",
  method: "POST",
  edge: null,
  params: Type.Object({
    migrations: Type.Unsafe<Readonly<Record<string, boolean>>>({
      type: "object",
      // VER-7f: a migration is switched by true or false; the numbers 1 and 0 are refused.
      additionalProperties: { type: "boolean", enum: [true, false] },
      [NAMES_OF]: "migrations",
      description: "whether each migration is on; you can switch a migration while its transition period lasts",
    }),
  }),
  returns: Type.Object({ success: Type.Boolean() }),
  readBack: { type: "app", set: appNode },
  errors: ["invalidParameter"],
});
