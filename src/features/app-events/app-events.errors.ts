/** Errors of the feature: all are code 100 and name the parameter, down to the event's place in its request (D-21, D-70). */
import { type GraphError, invalidParameter } from "#kernel/errors";

/** `custom_events[3]._eventName`; without a key the event itself. */
export const eventPath = (list: string, index: number, key?: string): string =>
  key === undefined ? `${list}[${index}]` : `${list}[${index}].${key}`;

/** D-72, LIM-2. */
export const tooManyNames = (path: string, name: string, limit: number): GraphError =>
  invalidParameter(path, `is refused: ${JSON.stringify(name)} would be one name more than the ${limit} that the app may use`);

/** D-72, LIM-3. */
export const deactivatedName = (path: string, name: string): GraphError =>
  invalidParameter(path, `is refused: the event name ${JSON.stringify(name)} was deactivated`);
