/** Prepares a running server that the suite did not start for a case. */
import type { Case } from "./cases.ts";
import { exchange } from "./http/requests.ts";
import type { Target } from "./session.ts";
import { buildWorld, loadWorld } from "./worlds.ts";

export const controlAddresses = (controlUrl: string): Record<string, string> => {
  const control = `${controlUrl.replace(/\/$/, "").replace(/\/v1$/, "")}/v1`;
  return { control, world: `${control}/worlds/default` };
};

export interface GivenServer {
  readonly baseUrl: string;
  readonly controlUrl?: string;
  readonly controlKey?: string;
}

/** Returns the addresses of a running server. The surfaces have the default mounts of D-01 below the base address. */
export function givenTarget(given: GivenServer): Target {
  const base = given.baseUrl.replace(/\/$/, "");
  const surfaces = { base, app: `${base}/app`, microblog: `${base}/microblog/v1.0`, ads: `${base}/ads`, social_login: `${base}/social-login` };
  return {
    addresses: { ...surfaces, ...(given.controlUrl === undefined ? {} : controlAddresses(given.controlUrl)) },
    ...(given.controlKey === undefined ? {} : { controlKey: given.controlKey }),
  };
}

const SNAPSHOT = "conformance";

export interface Prepared {
  /** The reason why the case cannot run on this server. */
  readonly obstacle?: string;
  after(): Promise<void>;
}

/**
 * Prepares a running server for a case by loading the case's world. If the case must be alone, this function saves a snapshot of the world, and
 * the returned function `after` restores the snapshot. `loaded` has the entries of world files that this run has already loaded.
 */
export async function prepareGiven(target: Target, testCase: Case, receiver: string, loaded: Set<string>): Promise<Prepared> {
  const nothing = async () => {};
  if (target.controlKey === undefined || target.addresses.world === undefined) return { after: nothing };
  await loadWorld(target, buildWorld(testCase.world, testCase.fragment, new Map([["receiver", receiver]])), loaded);
  if (!testCase.isAlone) return { after: nothing };
  const post = async (path: string, json: unknown): Promise<boolean> => {
    const { response } = await exchange({ method: "POST", target: path, on: "world", json }, target.addresses, {
      Authorization: `Bearer ${target.controlKey}`,
    });
    return response.status < 300;
  };
  if (!(await post("/snapshots", { name: SNAPSHOT })))
    return { obstacle: "the case needs the server for itself, and this server refuses to make a snapshot", after: nothing };
  return {
    after: async () => {
      if (!(await post(`/snapshots/${SNAPSHOT}/restore`, {}))) throw new Error("the state from before the case could not be restored");
    },
  };
}
