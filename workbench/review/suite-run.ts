/** One run of a suite in a world of its own, with some permissions taken away, and the record of the run. */
import { Connection } from "#testing/connection";
import { type Server, variablesOf } from "#testing/server";
import { ofWorld, openWorld } from "#testing/with-plaza";
import { runProcess, type ScenarioCommand } from "../storm/scenario-process.ts";
import { startControlProxy } from "../trace/control-proxy.ts";
import { Recorder } from "../trace/recorder.ts";
import type { Trace } from "../trace/trace.ts";
import { fileOf, grantedIn, grantsOf, type Permission, permissionText, withoutPermissions } from "./permissions.ts";

export interface Suite extends ScenarioCommand {
  readonly server: Server;
  /** The key that reads no secrets, for the record. */
  readonly readKey: string;
  /** The server's first world, with its secrets. */
  readonly first: object;
  readonly timeoutMs: number;
}

export interface SuiteRun {
  /** The problem of the suite; undefined if it passed. */
  readonly problem: string | undefined;
  readonly trace: Trace;
  /** The permissions that the worlds of the run were to have. */
  readonly granted: readonly Permission[];
}

/** Runs the suite without the permissions. */
export async function runSuite(suite: Suite, removed: readonly Permission[]): Promise<SuiteRun> {
  const { server, readKey, first, program, args, env, timeoutMs } = suite;
  const granted = new Map(grantedIn(first).map((one) => [permissionText(one), one]));
  const reduced = (file: object): object => {
    for (const one of grantedIn(file)) granted.set(permissionText(one), one);
    return withoutPermissions(file, removed);
  };
  const plaza = await openWorld(server, { world: withoutPermissions(first, removed) });
  const own = ofWorld(server, plaza);
  const recorder = new Recorder(new Connection(own.connection.url, readKey, own.connection.fetch));
  await recorder.begin("default");
  const proxy = startControlProxy(own.connection, recorder, (method, pathname, body) => reducedBody(method, pathname, body, reduced));
  let problem: string | undefined;
  try {
    const variables = { ...variablesOf(own), PLAZA_CONTROL_URL: proxy.url };
    await runProcess({ program, args, env: { ...env, ...variables } }, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const trace = await recorder.finish(program, problem === undefined ? 0 : 1);
  proxy.close();
  await plaza.close();
  return { problem, trace, granted: [...granted.values()] };
}

/** The body of a call with the permissions taken away. */
function reducedBody(method: string, pathname: string, body: ArrayBuffer, reduced: (file: object) => object): ArrayBuffer | string {
  const grants = grantsOf(method, pathname);
  if (grants === undefined || body.byteLength === 0) return body;
  const text = new TextDecoder().decode(body);
  try {
    if (grants === "file" && pathname.endsWith("/import")) return JSON.stringify(reduced(fileOf(text)));
    const given = JSON.parse(text) as Record<string, unknown>;
    if (grants === "file") return given.file === undefined ? body : JSON.stringify({ ...given, file: reduced(fileOf(given.file)) });
    const section = grants === "token" ? "tokens" : "pages";
    return JSON.stringify((reduced({ [section]: [given] }) as Record<string, readonly unknown[]>)[section]?.[0]);
  } catch {
    // The server itself reports what is wrong with the body.
    return body;
  }
}
