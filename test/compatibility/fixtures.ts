/** Finds the data that older programs wrote: `fixtures/` has a folder for each version. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";
import { openFolder, openPostgres, type Place } from "./places.ts";

const FIXTURES = join(import.meta.dir, "fixtures");

export interface Fixture {
  /** The version of the program that wrote the data. */
  readonly version: string;
  readonly database: "sqlite" | "postgres";
  readonly folder: string;
  /** Makes a copy of the data, so that the fixture does not change. */
  open(): Promise<Place>;
}

export const fixtures: readonly Fixture[] = readdirSync(FIXTURES).flatMap((version): Fixture[] => {
  const [sqlite, postgres] = [join(FIXTURES, version, "sqlite"), join(FIXTURES, version, "postgres")];
  return [
    { version, database: "sqlite", folder: sqlite, open: () => openFolder(sqlite) },
    { version, database: "postgres", folder: postgres, open: async () => openPostgres(postgres, await (await sharedPostgres()).newDatabase()) },
  ];
});
