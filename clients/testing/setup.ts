/**
 * A global set-up for Vitest or Jest, which starts one server for a whole run of tests. The server starts before the first test file, and
 * environment variables lead `withPlaza` in all files to this server.
 */
import { sharedServer, stopServer, variablesOf } from "./server.ts";

/**
 * Starts the server. Resolves with a function that ends the server, for Vitest. If nobody calls this function, the server ends with this
 * process.
 */
// biome-ignore lint/style/noDefaultExport: this is where the runners look for it.
export default async function setup(): Promise<() => Promise<void>> {
  const added = Object.entries(variablesOf(await sharedServer())).filter(([name]) => process.env[name] === undefined);
  Object.assign(process.env, Object.fromEntries(added));
  return async () => {
    for (const [name] of added) delete process.env[name];
    await stopServer();
  };
}
