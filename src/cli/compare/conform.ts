/** `plaza conform`: checks any server against the interface, clause by clause. */
import { ConfigProblem } from "#config/config";
import { runOnGiven } from "#conformance/run-cases";
import { runSuite, type SuiteOptions, SuiteProblem } from "#conformance/suite";
import { note } from "../terminal/output.ts";
import { expectServer, givenServer, httpAddress, orWrongUse } from "./servers.ts";

type Given = Readonly<Record<string, unknown>>;

/** Resolves with the exit code: 0 if all cases passed, 1 if one failed or none ran, 2 if an option is wrong. */
export function conform(given: Given): Promise<number> {
  return orWrongUse(async () => {
    const { base_url: baseUrl, control_url: controlUrl, control_key: controlKey, profile = "strict" } = given;
    if (given.list === true) return await suite(given, async () => {});
    if (baseUrl === undefined) throw new ConfigProblem("--base-url", "name the server to check, e.g. http://127.0.0.1:4000");
    const server = givenServer(httpAddress("--base-url", baseUrl), controlUrl, controlKey);
    const checked = profileOf(profile);
    const code = await suite(given, async (cases, receiver, noteResult) => {
      await expectServer(server, "--base-url");
      await runOnGiven(server, checked, cases, receiver, noteResult);
    });
    if (code !== 0 && controlUrl === undefined)
      note("plaza: without --control-url the server must hold the nodes and tokens of conformance/worlds/standard.yaml, else most cases fail");
    return code;
  });
}

function suite(given: Given, run: Parameters<typeof runSuite>[1]): Promise<number> {
  return runSuite(given as SuiteOptions, run).catch((error: unknown) => {
    throw error instanceof SuiteProblem ? new ConfigProblem(error.option, error.message) : error;
  });
}

export function profileOf(given: unknown): "strict" | "clients" {
  if (given !== "strict" && given !== "clients") throw new ConfigProblem("--profile", `"${given}" is neither strict nor clients`);
  return given;
}
