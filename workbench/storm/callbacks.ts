/** Gives a world its own callbacks: callbacks on this machine move to a port that no other run uses. */
import { createServer } from "node:net";
import { isOnThisMachine } from "#testing/connection";
import type { World } from "#testing/world";

const taken = new Set<number>();

/** Finds a port on which nothing listens. Each call of this function returns a different port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    if (taken.has(port)) continue;
    taken.add(port);
    return port;
  }
}

/**
 * Moves the callbacks of a world to the port. Returns the address of the first callback, or an address with that port if the world has no callback.
 */
export async function moveCallbacks(world: World, port: number): Promise<string> {
  const [apps, accounts, phones] = [world.nodes("apps"), world.nodes("chatapp_accounts"), world.nodes("phone_numbers")];
  let first: string | undefined;
  const moved = (url: string): string => {
    const to = onPort(url, port);
    first ??= to;
    return to;
  };
  for (const { id, callback } of await apps.list())
    if (callback != null && isLocal(callback.url)) await apps.update(id, { callback: { ...callback, url: moved(callback.url), verified: true } });
  for (const { id, subscribed_apps = [] } of await accounts.list())
    if (subscribed_apps.some(hasLocalOverride)) await accounts.update(id, { subscribed_apps: subscribed_apps.map((one) => overridden(one, moved)) });
  for (const { id, overrides = [] } of await phones.list())
    if (overrides.some(hasLocalOverride)) await phones.update(id, { overrides: overrides.map((one) => overridden(one, moved)) });
  return first ?? `http://127.0.0.1:${port}/`;
}

const isLocal = (url: string | undefined): url is string => url !== undefined && isOnThisMachine(url);
const hasLocalOverride = ({ override_callback_uri }: { readonly override_callback_uri?: string }): boolean => isLocal(override_callback_uri);

const overridden = <T extends { readonly override_callback_uri?: string }>(one: T, moved: (url: string) => string): T =>
  isLocal(one.override_callback_uri) ? { ...one, override_callback_uri: moved(one.override_callback_uri) } : one;

function onPort(url: string, port: number): string {
  const address = new URL(url);
  address.hostname = "127.0.0.1";
  address.port = String(port);
  address.protocol = "http:";
  return address.href;
}
