/** Reads the decisions of `spec/decisions` by their numbers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Decision {
  readonly id: string;
  readonly title: string;
  /** The link from a page of `spec/` to the decision. */
  readonly link: string;
  /** Whether some rules of the decision hold only in the response profile `clients`. */
  readonly hasClients: boolean;
}

const FOLDER = join(new URL("../..", import.meta.url).pathname, "spec/decisions");

export function readDecisions(): Map<string, Decision> {
  const found = new Map<string, Decision>();
  for (const file of readdirSync(FOLDER).sort()) {
    for (const part of readFileSync(join(FOLDER, file), "utf8").split(/^### /m).slice(1)) {
      const [heading = ""] = part.split("\n", 1);
      const [id = "", ...words] = heading.split(" ");
      const link = `decisions/${file}#${slugOf(heading)}`;
      found.set(id, { id, title: words.join(" "), link, hasClients: part.includes("**[clients]**") });
    }
  }
  return found;
}

/** Returns the anchor of a heading, for links. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
