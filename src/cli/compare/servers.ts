/** Checks the servers that are given to `conform`, `record` and `compare`, before the first request of the command. */
import { ConfigProblem } from "#config/config";
import { environmentWithSecrets } from "#config/secret-files";
import { controlAddresses, type GivenServer } from "#conformance/given";
import { expectListener, send, type WireRequest } from "#conformance/http/wire";
import { runOnGiven } from "#conformance/run-cases";
import { runSuite, type SuiteOptions, SuiteProblem } from "#conformance/suite";
import type { Given } from "../control-client.ts";
import { exitCodeOf } from "../process-end.ts";
import { note } from "../terminal/output.ts";

/**
 * Reads an http address. Throws if the text is not an http address, or if the address contains a user: the command does not send the user, and a
 * recording would show the password.
 */
export function httpAddress(option: string, text: unknown): URL {
  const address = String(text);
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) throw new ConfigProblem(option, `"${address}" is not an http address`);
  const url = new URL(address);
  if (url.username !== "" || url.password !== "")
    throw new ConfigProblem(option, "the address contains a user or a password, which the command does not send; leave them out");
  return url;
}

/**
 * Reads the address and the control API of the server from the command's options. The names of the options about the server's
 * control API begin with `prefix`.
 */
export function givenServer(base: URL, controlUrl: unknown, controlKey: unknown, prefix = ""): GivenServer {
  const [urlOption, keyOption] = [`--${prefix}control-url`, `--${prefix}control-key`];
  if (controlUrl === undefined) {
    if (controlKey !== undefined) throw new ConfigProblem(keyOption, `needs ${urlOption}`);
    return { baseUrl: base.href };
  }
  const key = controlKey ?? environmentWithSecrets().PLAZA_CONTROL_KEY;
  if (key === undefined) throw new ConfigProblem(urlOption, `needs ${keyOption}, which plaza start prints`);
  return { baseUrl: base.href, controlUrl: httpAddress(urlOption, controlUrl).href, controlKey: String(key) };
}

/**
 * Throws if no server listens, or if its control API refuses the key. The check sends no request to the graph, so that the server's counters stay the
 * same.
 */
export async function expectServer({ baseUrl, controlUrl, controlKey }: GivenServer, option: string, prefix = ""): Promise<void> {
  const reach = async <T>(asked: string, address: string, ask: () => Promise<T>): Promise<T> =>
    await ask().catch((error: unknown) => {
      throw new ConfigProblem(asked, `${new URL(address).origin} does not respond: ${error instanceof Error ? error.message : error}`);
    });
  await reach(option, baseUrl, () => expectListener(baseUrl));
  if (controlUrl === undefined) return;
  const [urlOption, { origin, pathname }] = [`--${prefix}control-url`, new URL(`${controlAddresses(controlUrl).control}/worlds`)];
  const request: WireRequest = { method: "GET", origin, target: pathname, headers: [["Authorization", `Bearer ${controlKey}`]] };
  const { status } = await reach(urlOption, controlUrl, () => send(request));
  if (status === 401 || status === 403) throw new ConfigProblem(`--${prefix}control-key`, `the control API at ${origin} refuses the key`);
  if (status !== 200) throw new ConfigProblem(urlOption, `${origin} is not a control API: GET ${pathname} returned ${status}`);
}

/**
 * `plaza conform`: checks any server against the interface, clause by clause. Resolves with the exit code: 0 if all cases passed, 1 if one failed or
 * none ran, 2 if an option is wrong.
 */
export function conform(given: Given): Promise<number> {
  return exitCodeOf(async () => {
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
      note("plaza: without --control-url the server must have the nodes and tokens of conformance/worlds/standard.yaml, or most cases fail");
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
