/**
 * One server for a whole run of tests, as a global set-up of Vitest or Jest. The server starts before the first test file, and environment variables
 * lead `withPlaza` in all files to this server.
 */
import { sharedServer, stopServer, variablesOf } from "./server.ts";

/** Starts the server. Resolves with a function that ends the server, for Vitest. The server also ends with this process. */
// biome-ignore lint/style/noDefaultExport: this is where the runners look for it.
export default async function setup(): Promise<() => Promise<void>> {
  const added = Object.entries(variablesOf(await sharedServer())).filter(([name]) => process.env[name] === undefined);
  Object.assign(process.env, Object.fromEntries(added));
  return async () => {
    for (const [name] of added) delete process.env[name];
    await stopServer();
  };
}
