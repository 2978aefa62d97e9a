/** Runs a suite once in a world of its own from which some permissions were removed, and records the run. */
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
  /** A control key that cannot read secrets, with which the run is recorded. */
  readonly readKey: string;
  /** The content of the server's first world, with its secrets. */
  readonly first: object;
  readonly timeoutMs: number;
}

export interface SuiteRun {
  /** The reason for which the suite failed; undefined if it passed. */
  readonly problem: string | undefined;
  readonly trace: Trace;
  /** The permissions that the test suite tried to grant in its worlds. */
  readonly granted: readonly Permission[];
}

/** Runs the suite without the permissions in `removed`. */
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

/** Returns the body of a request to the control API without the removed permissions. */
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
    // A body that cannot be parsed is passed on unchanged, because the server refuses it itself.
    return body;
  }
}
