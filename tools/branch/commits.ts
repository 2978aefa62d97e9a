/** `npm run check -- commits`: checks the subjects of the commits that are not on the main branch yet (STYLE.md: Commits). */
import { ROOT } from "../steps.ts";
import { baseOnMain, type Commit, commitsSince } from "./main-branch.ts";

/**
 * The greatest length of a subject, so that `git log --oneline` shows it whole in 80 columns. Hosts of git repositories also cut
 * off longer subjects.
 */
const SUBJECT_CHARACTERS_MAX = 72;
/** Matches the area or areas in front of a subject, as in `feeds: …` or `docs, clients: …`. */
const AREA = /^[\w./@-]+(?:, [\w./@-]+)*: \S/;

export function problemsOf({ subject, isMerge }: Pick<Commit, "subject" | "isMerge">): string[] {
  if (isMerge && /^Merge\b/.test(subject)) return ["is a merge without a subject of its own: rebase, or write what the merge brings"];
  return [
    ...([...subject].length > SUBJECT_CHARACTERS_MAX ? [`has ${[...subject].length} characters; at most ${SUBJECT_CHARACTERS_MAX} are allowed`] : []),
    ...(AREA.test(subject) ? [] : ["does not begin with its area, as in feeds: keep rows after CRLF"]),
  ];
}

if (import.meta.main) {
  const base = baseOnMain(ROOT);
  const commits = base === undefined ? [] : commitsSince(ROOT, base);
  const problems = commits.flatMap((commit) => problemsOf(commit).map((problem) => `${commit.hash} "${commit.subject}" ${problem}`));
  for (const problem of problems) console.error(problem);
  console.log(base === undefined ? "there is no main branch to compare with" : `${commits.length} commits are not on the main branch yet`);
  process.exit(problems.length === 0 ? 0 : 1);
}
