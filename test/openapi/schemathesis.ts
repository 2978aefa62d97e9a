/** Runs Schemathesis over a document: requests that fit it, and requests that break it in one place, with what it checks of the responses. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";

const PROGRAM = join(import.meta.dir, "../../.tools/openapi/bin/st");
/** Of each operation and phase. */
const EXAMPLES = 50;

/** What Schemathesis asks of every server and a decision answers otherwise. Nothing else is left out. */
export interface LeftOut {
  readonly check: string;
  readonly because: string;
}

export interface Fuzzing {
  /** Of the document. */
  readonly address: string;
  /** In TOML, whose texts are written as JSON's. */
  readonly configuration: string;
  readonly leftOut: readonly LeftOut[];
  readonly options?: readonly string[];
  /** A file of Python. */
  readonly hooks?: string;
}

export async function expectNoFault({ address, configuration, leftOut, options = [], hooks }: Fuzzing): Promise<void> {
  const folder = temporaryFolder();
  const config = join(folder, "schemathesis.toml");
  // Not as an option, which would also say of which operations a check is left out.
  writeFileSync(config, configuration + leftOut.map(({ check }) => `[checks.${check}]\nenabled = false\n`).join(""));
  const always = ["--max-examples", String(EXAMPLES), "--continue-on-failure", "--no-color"];
  const child = Bun.spawn([PROGRAM, "--config-file", config, "run", address, ...always, "--suppress-health-check", "all", ...options], {
    cwd: folder,
    env: { ...process.env, ...(hooks === undefined ? {} : { SCHEMATHESIS_HOOKS: hooks }) },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  expect({ exitCode, said: exitCode === 0 ? "" : `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: "" });
  expect(stdout).toMatch(/\d+ generated, \d+ passed/);
}
