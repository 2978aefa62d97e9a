/**
 * Installs packages of registries, once for each set of pinned versions. The packages are installed outside of the project because they are not its
 * dependencies.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { needs } from "#harness/processes/needs";

needs("python", "registry");

const HERE = import.meta.dir;

/**
 * Installs packages, and returns their folder. `folder` contains the files that pin the versions of the packages. If the registry cannot be reached,
 * the function throws, so that the test fails.
 */
export async function installed(folder: string, pins: readonly string[], install: (into: string) => readonly string[]): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for (const name of pins) hash.update(readFileSync(join(folder, name)));
  const kept = join(tmpdir(), "plaza-client-libraries", `${basename(folder)}-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(kept)) return kept;
  mkdirSync(join(kept, ".."), { recursive: true });
  const fresh = mkdtempSync(`${kept}.`);
  for (const name of pins) cpSync(join(folder, name), join(fresh, name));
  await run(install(fresh), fresh);
  try {
    // Renames the folder to its final name when it is complete, so that two processes can install at the same time.
    renameSync(fresh, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
  return kept;
}

export const installNodeLibrary = (): Promise<string> =>
  installed(join(HERE, "node"), ["package.json", "package-lock.json"], () => ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]);

export const installPythonLibrary = (): Promise<string> =>
  installed(join(HERE, "python"), ["requirements.txt"], (into) => [
    ...["python3", "-m", "pip", "install", "--disable-pip-version-check", "--quiet"],
    // These options of pip leave out the files that only one version of Python or one system can use.
    ...["--no-deps", "--only-binary=:all:", "--platform", "any"],
    ...["--target", join(into, "packages"), "--requirement", join(into, "requirements.txt")],
  ]);

/** Runs a command and returns its output. */
export async function run(command: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const running = Bun.spawn([...command], { cwd, env: { ...process.env, ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  if (code !== 0) throw new Error(`${command.slice(0, 4).join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}
