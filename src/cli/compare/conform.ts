/** `plaza conform`: checks any server against the interface, clause by clause. */
import { runOnGiven } from "#conformance/run-cases";
import { runSuite, type SuiteOptions } from "#conformance/suite";

type Given = Readonly<Record<string, unknown>>;

const WRONG_USE = 2;

/** Resolves with the exit code: 0 if all cases passed, 1 if one failed or none ran. */
export async function conform(given: Given): Promise<number> {
  const { base_url: baseUrl, control_url: controlUrl, control_key: controlKey, profile = "strict" } = given;
  const wrong = [baseUrl, ...(controlUrl === undefined ? [] : [controlUrl])].find((url) => !URL.canParse(String(url)));
  if (wrong !== undefined) return refuse(`"${wrong}" is not an address`);
  if (profile !== "strict" && profile !== "clients") return refuse(`--profile: "${profile}" is neither strict nor clients`);
  const server = {
    baseUrl: String(baseUrl),
    ...(controlUrl === undefined ? {} : { controlUrl: String(controlUrl) }),
    ...(controlKey === undefined ? {} : { controlKey: String(controlKey) }),
  };
  return await runSuite(given as SuiteOptions, (cases, receiver, note) => runOnGiven(server, profile, cases, receiver, note));
}

function refuse(message: string): number {
  process.stderr.write(`plaza: ${message}\n`);
  return WRONG_USE;
}
