import type { GraphRequest } from "#graph/pipeline/request";
import { type GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import type { Status } from "./lifecycle/states.ts";

/** LIVE-19, LIVE-20, D-51. */
const advertisingRefused = (parameter: string): GraphError =>
  invalidParameter(parameter, "is refused: live videos are not boosted, and no ads of third parties stand in them");

/** LIVE-21. */
const captionsRefused = (parameter: string): GraphError =>
  invalidParameter(parameter, "is refused: no endpoint creates captions; send them in the stream (CEA-608)");

export const unknownPlace = (): GraphError => invalidParameter("place", "is the id of no place and no page");

/** D-51: the table has no such move. */
export const wrongStatus = (parameter: string, status: Status | undefined): GraphError =>
  invalidParameter(parameter, `is refused while the live video's status is ${status}`, { status });

/** The same for a page that does not exist and for one on which the caller may not publish. */
export const wrongPage = (parameter: string): GraphError => invalidParameter(parameter, "is no other page on which the caller may create content");

export const notPublished = (): GraphError => malformedRequest("The live video has not been published");

/** Of the name without separators, in lower case: `isBoosted`, `is_boosted` and `is-boosted` are the same. */
const ADVERTISING = /boost|promot|sponsor|advert|monetiz|bumper|(?:pre|mid|post)roll|commercial|adbreak|thirdpartyad/;
const CAPTIONS = /caption|subtitle/;
/** Words that stand in other words too, and so only count alone. */
const AD_WORDS = new Set(["ad", "ads"]);

/**
 * Throws for a parameter in the query, the body or the files that C1 and creation refuse with any value, so that nobody believes that it
 * has an effect: boosting, ads of third parties, captions. The words of a name decide, because it is spelt in many ways (D-113).
 */
export function refuseForeignParameters({ query, body, files }: Pick<GraphRequest, "query" | "body" | "files">): void {
  for (const name of [...Object.keys(query), ...Object.keys(body), ...files.keys()]) {
    const words = name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z0-9]+/);
    const joined = words.join("");
    if (ADVERTISING.test(joined) || words.some((word) => AD_WORDS.has(word))) throw advertisingRefused(name);
    if (CAPTIONS.test(joined)) throw captionsRefused(name);
  }
}
