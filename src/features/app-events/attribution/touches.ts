/** Clicks on ads and impressions of them, as the control API records them. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import { deviceIdentities } from "../intake/identities.ts";
import { isHashed, personsOf, readUserData } from "../intake/parse-user-data.ts";
import { insertTouch } from "./ads.store.ts";
import type { Touch } from "./rule.ts";

export interface TouchInput {
  readonly ad: string;
  readonly advertiser_id?: string | undefined;
  readonly attribution?: string | undefined;
  readonly ud?: Readonly<Record<string, string>> | undefined;
  readonly time: number;
}

/** The devices and persons of a touch; empty when it has no device id, no cookie and no hashed person key. */
export function identitiesOfTouch({ advertiser_id, attribution, ud = {} }: TouchInput): string[] {
  const hashed = Object.fromEntries(Object.entries(ud).filter(([, value]) => isHashed(value)));
  return [...deviceIdentities({ advertiser_id, attribution }), ...personsOf(readUserData(hashed).kept)];
}

export async function recordTouch(world: World, kind: Touch["kind"], touch: TouchInput): Promise<NodeId> {
  const id = world.ids.mint();
  await world.database.write((tx) => insertTouch(tx, { id, ad: touch.ad, kind, time: touch.time, identities: identitiesOfTouch(touch) }));
  return id;
}
