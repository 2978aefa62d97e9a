import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

const WORLD = `
profile: clients
apps: [{id: "1001", name: Shop, secret: s3cret}]
users: [{id: "3001", name: Ada}]
pages: [{id: "2001", name: Cafe, roles: [{user: "3001", tasks: [MESSAGING, CREATE_CONTENT, MODERATE]}]}]
tokens:
- {token: user-token, type: user, app: "1001", user: "3001", scopes: [pages_manage_posts, pages_read_engagement, social_basic]}
`;
const suite = (name: string): string => join(import.meta.dir, "suites", name);

async function review(...args: readonly string[]) {
  const cwd = newFolder();
  writeFileSync(join(cwd, "world.yaml"), WORLD);
  return { cwd, ...(await runPlaza(["review", "--world", "world.yaml", ...args], { cwd })) };
}

const linesOf = (stdout: string, beginning: string): string[] =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith(beginning))
    .map((line) => line.slice(beginning.length).trim())
    .sort();

test("a suite with a world of its own: the needed scope and task, by the operation and the test that use them", async () => {
  const { code, stdout, cwd } = await review("--html", "review.html", "--", process.execPath, suite("labels.ts"));
  expect(code).toBe(0);
  expect(linesOf(stdout, "needed ")).toEqual(["MESSAGING (page task)", "pages_messaging"]);
  expect(linesOf(stdout, "not needed ")).toEqual([
    ...["CREATE_CONTENT (page task)", "MODERATE (page task)", "pages_manage_posts", "pages_read_engagement", "social_basic"],
  ]);
  expect(stdout).toContain("without it, these are refused: createLabel; tests: a label is created");
  // The suite runs once with all permissions, once without each of seven, once with only the needed ones, and once more without each of the two
  // needed ones.
  expect(stdout).toContain("The suite ran 11 times. The suite passes with the 2 needed permissions, and fails without any one of them.");
  const page = readFileSync(join(cwd, "review.html"), "utf8");
  expect(page).toContain("<td>pages_messaging</td><td>createLabel</td><td>a label is created</td>");
  expect(page).not.toContain("user-token");
});

test("a suite in the first world needs the permissions of its two operations", async () => {
  const { code, stdout } = await review("--", process.execPath, suite("live-video.ts"));
  expect(code).toBe(0);
  expect(linesOf(stdout, "needed ")).toContain("CREATE_CONTENT (page task)");
  expect(linesOf(stdout, "not needed ")).toContain("social_basic");
  expect(stdout).toContain("createLiveVideo");
});

test("a token that the suite gives itself loses its scopes as well; a page token needs no task of a person", async () => {
  const { code, stdout } = await review("--", process.execPath, suite("minted-token.ts"));
  expect(code).toBe(0);
  expect(linesOf(stdout, "needed ")).toEqual(["pages_messaging"]);
});

test("a suite that fails with all permissions cannot be reviewed", async () => {
  const { code, stderr } = await review("--", "node", "-e", "process.exit(3)");
  expect({ code, isNamed: stderr.includes("the suite fails with all permissions that its worlds grant: the command ended with 3") }).toEqual({
    code: 2,
    isNamed: true,
  });
  expect((await review("--timeout-ms", "0", "--", "node")).stderr).toContain('--timeout-ms: "0" is not a whole number of at least 1');
});
