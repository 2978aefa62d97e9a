/** The ids of a device as the index and the touches store them: `device:…` for an advertising id, `cookie:…` for a cookie. */

const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;
/** Sent by devices whose owner switched the advertising id off. */
export const NO_ID = "00000000-0000-0000-0000-000000000000";
export const isUuid = (id: string): boolean => id.length === NO_ID.length && UUID.test(id);
/** D-74: UUIDs are equal in either case of their digits; cookies of 22 characters are not UUIDs. */
const comparable = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** The id of all zeros is no id (D-74). */
export function deviceIdentities({ advertiser_id, attribution }: { advertiser_id?: string | undefined; attribution?: string | undefined }): string[] {
  const identities: string[] = [];
  if (advertiser_id !== undefined && advertiser_id !== NO_ID) identities.push(`device:${comparable(advertiser_id)}`);
  if (attribution !== undefined) identities.push(`cookie:${comparable(attribution)}`);
  return identities;
}

/** Whether an identity is one of a device; the others are persons. */
export const isDevice = (identity: string): boolean => identity.startsWith("device:") || identity.startsWith("cookie:");
