/** Copies the data of a fixture to a folder or database in which a program may change the data. The fixture itself never changes. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { newFolder } from "../cli/plaza-process.ts";

export interface Place {
  /** The value of the option `--data`. */
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function openFolder(fixture: string): Promise<Place> {
  const data = newFolder();
  for (const file of ["default.sqlite", "secret.key"]) copyFileSync(join(fixture, file), join(data, file));
  return { data, env: {} };
}

/** Loads the PostgreSQL data of a fixture into the empty database at `url`. */
export async function openPostgres(fixture: string, url: string): Promise<Place> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(readFileSync(join(fixture, "dump.sql"), "utf8"));
  } finally {
    await client.end();
  }
  return { data: url, env: { PLAZA_SECRET_KEY: readFileSync(join(fixture, "secret.key"), "utf8").trim() } };
}
