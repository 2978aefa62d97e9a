import { type GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import type { Status } from "./lifecycle/states.ts";

/** LIVE-19, LIVE-20, D-51. */
export const advertisingRefused = (parameter: string): GraphError =>
  invalidParameter(parameter, "is refused: live videos are not boosted, and no ads of third parties stand in them");

/** D-51: the table has no such move. */
export const wrongStatus = (parameter: string, status: Status | undefined): GraphError =>
  invalidParameter(parameter, `is refused while the live video's status is ${status}`, { status });

/** The same for a page that does not exist and for one on which the caller may not publish. */
export const wrongPage = (parameter: string): GraphError => invalidParameter(parameter, "is no other page on which the caller may create content");

export const notPublished = (): GraphError => malformedRequest("The live video has not been published");
