/** Checks that the page of errors has every error of the catalogue, and no other error. */
import { type Check, matchesIn, type Problem } from "./repository.ts";

const PAGE = "docs/reference/errors.md";
const CATALOGUE = "src/kernel/errors.ts";

/** Makes the check of the error page. A row of the page begins with the error's name: `| \`name\` | …`. */
export const errorPage =
  (catalogue: readonly string[]): Check =>
  (files) => {
    const page = files.find(({ path }) => path === PAGE);
    const rows = matchesIn(page?.text ?? "", /^\| `(\w+)` \|/g).map(({ match, line }) => ({ name: match[1] ?? "", line }));
    const fix = "run `npm run docs`";
    const absent = catalogue
      .filter((name) => !rows.some((row) => row.name === name))
      .map((name): Problem => ({ path: CATALOGUE, line: 1, what: `error ${name} is not in ${PAGE}`, fix }));
    const unknown = rows
      .filter(({ name }) => !catalogue.includes(name))
      .map(({ name, line }): Problem => ({ path: PAGE, line, what: `names an error ${name} that the catalogue does not have`, fix }));
    return [...absent, ...unknown];
  };
