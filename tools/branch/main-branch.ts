/** Finds the commits that are not on the main branch yet, for checks of a branch. */
export interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly isMerge: boolean;
}

/**
 * Returns the commit at which HEAD left the main branch, by the main branch of this clone or of its origin. If HEAD is the main branch itself,
 * returns the last commit that origin has. Returns undefined if the clone has no main branch, or does not contain enough of the branch's
 * history.
 */
export function baseOnMain(root: string): string | undefined {
  const branch = git(root, "rev-parse", "--abbrev-ref", "HEAD");
  const mains = ["origin/main", ...(branch === "main" ? [] : ["main"])].filter(
    (name) => git(root, "rev-parse", "--verify", "--quiet", name) !== undefined,
  );
  return mains.length === 0 ? undefined : git(root, "merge-base", "HEAD", ...mains);
}

/** Lists the commits since `base`, the newest first. */
export function commitsSince(root: string, base: string): Commit[] {
  const lines = (git(root, "log", "--format=%h%x09%p%x09%s", `${base}..HEAD`) ?? "").split("\n").filter(Boolean);
  return lines.map((line) => {
    const [hash = "", parents = "", ...subject] = line.split("\t");
    return { hash, subject: subject.join("\t"), isMerge: parents.includes(" ") };
  });
}

/** Returns the output of a git command; undefined if the command fails or git is not installed. */
function git(root: string, ...args: string[]): string | undefined {
  const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
  return success ? stdout.toString().trim() : undefined;
}
