/**
 * Runs Schemathesis on a document. Schemathesis sends requests that fit the document and requests that are wrong in one value, and checks the
 * responses.
 */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Server, temporaryFolder } from "#harness/server";

const PROGRAM = join(import.meta.dir, "../../.tools/openapi/bin/st");
/** The number of requests for each operation and phase. */
const EXAMPLES = 50;
/** The number of chains of requests, in which later requests use values of earlier responses. With only 50 chains, most links were never followed. */
const SCENARIOS = 150;
/** The time limit of a request: on a busy machine, all processes may wait for a minute. */
const TIMEOUT_SECONDS = 300;

/** Checks of Schemathesis that a decision contradicts. All checks of Schemathesis run except those listed here. */
export interface LeftOut {
  readonly check: string;
  readonly because: string;
}

/** The ids of existing nodes, for requests. A link takes its id from an earlier response. */
export interface Known {
  /** A regular expression that the paths of the tested operations must match. Default: all operations. */
  readonly addresses?: string;
  /** The parameter with its location: `path.id`, `body.page`. */
  readonly parameter: string;
  readonly value: string;
}

export interface Fuzzing {
  readonly server: Server;
  /** The URL of the document. */
  readonly address: string;
  /** The configuration of Schemathesis in TOML, in which texts are written as in JSON. */
  readonly configuration: string;
  readonly leftOut: readonly LeftOut[];
  readonly known: readonly Known[];
  /** Parameters that every request sends unchanged, whatever else is wrong in the request. */
  readonly fixed?: Readonly<Record<string, string>>;
  readonly options?: readonly string[];
  /** The name of a Python file, which is in the folder of this TypeScript file. It imports `document_hooks`. */
  readonly hooks?: string;
}

const binding = ({ parameter }: Known, index: number): string =>
  // An id in a request body is sometimes left random, so that it names a missing node.
  `"${parameter}" = { dictionary = "known_${index}", probability = ${parameter.startsWith("body.") ? 0.5 : 1.0} }`;

/**
 * The known ids in TOML, as dictionaries of values, because a fixed value would also replace the value of a link. An operation uses the dictionaries
 * of its own configuration block and those for all operations.
 */
function parametersOf(known: readonly Known[], fixed: Readonly<Record<string, string>>): { ofAll: string; ofSome: string } {
  const ofAll = known.flatMap((one, index) => (one.addresses === undefined ? [binding(one, index)] : []));
  const own = Object.entries(fixed).map(([name, value]) => `"${name}" = ${JSON.stringify(value)}`);
  const blocks = known.flatMap((one, index) =>
    one.addresses === undefined
      ? []
      : [`[[operations]]\ninclude-path-regex = ${JSON.stringify(one.addresses)}\nparameters = { ${binding(one, index)} }\n`],
  );
  const dictionaries = known.map(({ value }, index) => `[dictionaries.known_${index}]\nvalues = [${JSON.stringify(value)}]\n`);
  return { ofAll: `parameters = { ${[...own, ...ofAll].join(", ")} }\n`, ofSome: [...dictionaries, ...blocks].join("") };
}

/** Runs Schemathesis, and expects no failure. Returns the number of links that were followed. */
export async function expectNoFault(fuzzing: Fuzzing): Promise<number> {
  const { server, address, configuration, leftOut, known, fixed = {}, options = [], hooks = "document_hooks.py" } = fuzzing;
  const folder = temporaryFolder();
  const config = join(folder, "schemathesis.toml");
  // The checks are in the configuration file and not in an option of the command, because the file also says for which operations a check is left
  // out.
  const off = leftOut.map(({ check }) => `[checks.${check}]\nenabled = false\n`);
  const { ofAll, ofSome } = parametersOf(known, fixed);
  writeFileSync(config, [ofAll, configuration, `[phases.stateful.generation]\nmax-examples = ${SCENARIOS}\n`, ofSome, ...off].join(""));
  const always = ["--max-examples", String(EXAMPLES), "--request-timeout", String(TIMEOUT_SECONDS), "--continue-on-failure", "--no-color"];
  const child = Bun.spawn([PROGRAM, "--config-file", config, "run", address, ...always, "--suppress-health-check", "all", ...options], {
    cwd: folder,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: join(import.meta.dir, hooks),
      PYTHONPATH: import.meta.dir,
      KNOWN: JSON.stringify(known),
      CONTROL_URL: server.control_url,
      CONTROL_KEY: server.control_key,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  // Schemathesis prints the number of requests, and the number of links that were followed.
  console.log(stdout);
  expect({ exitCode, said: exitCode === 0 ? "" : `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: "" });
  expect(stdout).toMatch(/\d+ generated, \d+ passed/);
  return Number(/API Links: +(\d+) covered/.exec(stdout)?.[1] ?? 0);
}
