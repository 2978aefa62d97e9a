/** Runs `plaza conform` on a running server. */
import { printedBy } from "#harness/cli/printed";
import { type Ready, runPlaza } from "../plaza-process.ts";

interface Report {
  readonly broken: readonly string[];
  readonly results: readonly { readonly title: string; readonly outcome: string; readonly failure?: unknown }[];
}

/** Runs the command, and returns its exit code, the failed cases, and the clauses that the server breaks. `area` limits the cases to one area. */
export async function checkCases({ base_url, control_url, control_key }: Ready, profile: string, area?: string) {
  const given = ["--base-url", base_url, "--control-url", control_url, "--control-key", control_key as string, "--profile", profile];
  const { code, stdout } = await runPlaza(["conform", ...given, ...(area === undefined ? [] : ["--area", area]), "--json"]);
  const { broken, results } = printedBy("conform", stdout) as Report;
  const failed = results.filter(({ outcome }) => outcome === "failed").map(({ title, failure }) => ({ title, failure }));
  return { code, failed, broken };
}
