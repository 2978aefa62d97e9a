/** Names of worlds (D-260). */

/** The first one. */
export const DEFAULT_WORLD = "default";

/** A label of a host name, a file and, behind `plaza_`, a schema; in lower case, since file systems and hosts do not tell cases apart. */
export const WORLD_NAME = "^[a-z0-9]([a-z0-9_-]{0,55}[a-z0-9])?$";
const NAME = new RegExp(WORLD_NAME);

export const isWorldName = (name: string): boolean => NAME.test(name);
