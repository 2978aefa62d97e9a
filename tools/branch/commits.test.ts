import { describe, expect, test } from "bun:test";
import { temporaryFolder } from "#harness/server";
import { problemsOf } from "./commits.ts";
import { baseOnMain, commitsSince } from "./main-branch.ts";

describe("a subject", () => {
  const ordinary = (subject: string) => problemsOf({ subject, isMerge: false });

  test.each(["feeds: keep rows after CRLF", "docs, clients: generated files leave git", ".ci: a step more", `a: ${"b".repeat(69)}`])(
    "%s is right",
    (subject) => expect(ordinary(subject)).toEqual([]),
  );

  test("of 73 characters is too long, whatever the bytes of a character", () => {
    expect(ordinary(`a: ${"b".repeat(70)}`)).toEqual(["has 73 characters; at most 72 are allowed"]);
    expect(ordinary(`a: ${"é".repeat(69)}`)).toEqual([]);
  });

  test.each(["Keep rows after CRLF", "A row: it is kept", "feeds:", "feeds:keep rows", ": keep rows"])("%s has no area", (subject) =>
    expect(ordinary(subject)).toEqual(["does not begin with its area, as in feeds: keep rows after CRLF"]),
  );

  test("a merge has a name of its own", () => {
    expect(problemsOf({ subject: "Merge branch 'main'", isMerge: true })).toHaveLength(1);
    expect(problemsOf({ subject: "feeds: rows of any length", isMerge: true })).toEqual([]);
  });
});

/** A clone of a repository with one commit on its main branch. */
function repository() {
  const root = temporaryFolder();
  const git = (...args: string[]): void => {
    const { success, stderr } = Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@a", ...args], { cwd: root });
    expect({ args, success, stderr: success ? "" : stderr.toString() }).toEqual({ args, success: true, stderr: "" });
  };
  const commit = (subject: string): void => git("commit", "--quiet", "--allow-empty", "--message", subject);
  git("init", "--quiet", "--initial-branch", "main");
  commit("first");
  const notOnMain = (): string[] | undefined => {
    const base = baseOnMain(root);
    return base === undefined ? undefined : commitsSince(root, base).map(({ subject, isMerge }) => (isMerge ? `${subject} (merge)` : subject));
  };
  return { git, commit, notOnMain };
}

describe("commits that are not on the main branch", () => {
  test("of a branch are those since it left main, and a merge is recognized as one", () => {
    const { git, commit, notOnMain } = repository();
    git("switch", "--quiet", "--create", "topic");
    commit("second");
    git("switch", "--quiet", "main");
    commit("of main");
    git("switch", "--quiet", "topic");
    expect(notOnMain()).toEqual(["second"]);
    git("merge", "--quiet", "--no-edit", "main");
    commit("third");
    expect(notOnMain()).toEqual(["third", "Merge branch 'main' into topic (merge)", "second"]);
  });

  test("of main itself are those that origin does not have", () => {
    const { git, commit, notOnMain } = repository();
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    expect(notOnMain()).toEqual([]);
    commit("second");
    expect(notOnMain()).toEqual(["second"]);
  });

  test("are not known if the clone has no main branch to compare with", () => {
    const { git, notOnMain } = repository();
    expect(notOnMain()).toBeUndefined();
    git("branch", "--quiet", "--move", "topic");
    expect(notOnMain()).toBeUndefined();
  });
});
