/**
 * One server for a whole run of tests, in the form in which Vitest and Jest take a global set-up: it starts before the first test file,
 * and the variables lead `withPlaza` of all files to it.
 */
import { sharedServer, stopServer, variablesOf } from "./server.ts";

/** Resolves with a function that ends the server, for Vitest; the server also ends with this process. */
// biome-ignore lint/style/noDefaultExport: this is where the runners look for it.
export default async function setup(): Promise<() => Promise<void>> {
  const added = Object.entries(variablesOf(await sharedServer())).filter(([name]) => process.env[name] === undefined);
  Object.assign(process.env, Object.fromEntries(added));
  return async () => {
    for (const [name] of added) delete process.env[name];
    await stopServer();
  };
}
