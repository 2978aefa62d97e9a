/**
 * D-384, D-385: stores the permissions that a person grants to an app, takes permissions back, and revokes the app's tokens if the person removes the
 * app.
 */
import type { AppFacts } from "#auth/app-facts";
import { revocationTime } from "#auth/token";
import { tokenFact } from "#auth/tokens";
import { endTokensOfPerson, hasTokenOfPerson, removeScope } from "#auth/tokens.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { scheduleDeauthorization } from "./login.callbacks.ts";
import { deletePermissions, hasPermissions, listPermissions, type Permission, savePermission } from "./login.store.ts";

/** The permission that a person grants with every login, whether or not the app requests the permission. */
export const ALWAYS = "public_profile";

/** Returns whether the person has logged in to the app: the app has a stored permission or a valid token of the person. */
export const hasLogin = async (reader: Reader, app: NodeId, person: NodeId): Promise<boolean> =>
  (await hasPermissions(reader, app, person)) || (await hasTokenOfPerson(reader, app, person));

interface Decision {
  readonly asked: readonly string[];
  readonly granted: readonly string[];
  /**
   * Whether the app asks again for permissions that the person declined before. If the app does not ask again, the declined permissions stay
   * declined.
   */
  readonly isRerequest: boolean;
}

/**
 * For each permission that the app requested, stores whether the person granted or declined the permission. Returns the permissions of the new token:
 * the permissions that the person granted in this login, and the permissions that the person granted earlier and that the app did not request in this
 * login.
 */
export async function decide(tx: Transaction, app: NodeId, person: NodeId, { asked, granted: chosen, isRerequest }: Decision): Promise<string[]> {
  const known = await listPermissions(tx, app, person);
  const named = (wanted: Permission["status"]) => known.filter(({ status }) => status === wanted).map(({ permission }) => permission);
  const before = named("granted");
  const refused = isRerequest ? [] : named("declined").filter((permission) => permission !== ALWAYS);
  const granted = chosen.filter((permission) => !refused.includes(permission));
  for (const permission of new Set([...asked, ...granted]))
    await savePermission(tx, app, person, { permission, status: granted.includes(permission) ? "granted" : "declined" });
  return [...new Set([...granted, ...before.filter((permission) => !asked.includes(permission))])];
}

/** Removes one permission from all tokens that the app has for the person. */
export async function removePermission(tx: Transaction, app: NodeId, person: NodeId, permission: string): Promise<void> {
  const hashes = await removeScope(tx, app, person, permission);
  if (hashes.length === 0) throw invalidParameter("permission", "is not a permission that the app has for this person");
  for (const hash of hashes) tx.invalidate(tokenFact, hash);
  await savePermission(tx, app, person, { permission, status: "declined" });
}

/** Revokes all tokens that the app has for the person, and schedules a signed request that tells the app that the person removed it. */
export async function removeApp(tx: Transaction, world: World, app: AppFacts, person: NodeId): Promise<void> {
  for (const hash of await endTokensOfPerson(tx, app.id, person, revocationTime(unixSeconds(world.clock)))) tx.invalidate(tokenFact, hash);
  await deletePermissions(tx, app.id, person);
  await scheduleDeauthorization(tx, world, app, person);
}
