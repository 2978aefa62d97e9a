import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza } from "./plaza-process.ts";

afterEach(endAll);

const scriptOf = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runPlaza(["completion", shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

/** The completions that bash offers for the last word. */
function completedByBash(script: string, folder: string, words: readonly string[]): string[] {
  const asked = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plaza; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = Bun.spawnSync(["bash", "-uc", asked, script, ...words], { cwd: folder });
  expect(stderr.toString()).toBe("");
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}

test("bash completes commands, options, their values and events", async () => {
  const folder = newFolder();
  const script = join(folder, "plaza.bash");
  writeFileSync(script, await scriptOf("bash"));
  writeFileSync(join(folder, "world.yaml"), "");
  const completed = (line: string) => completedByBash(script, folder, line.split(" "));
  expect(completed("plaza st")).toEqual(["start", "status", "stop", "storm"]);
  expect(completed("plaza ")).toEqual(expect.arrayContaining(["trigger", "deliveries", "completion", "--version"]));
  expect(completed("plaza ")).not.toContain("worker");
  expect(completed("plaza deliveries ")).toEqual(expect.arrayContaining(["list", "resend", "show"]));
  expect(completed("plaza token mint --s")).toEqual(["--scopes", "--social-account"]);
  expect(completed("plaza trigger page.")).toEqual(["page.custom_labels", "page.live_videos"]);
  expect(completed("plaza trigger --entity 5 page.c")).toEqual(["page.custom_labels"]);
  expect(completed("plaza world import wor")).toEqual(["world.yaml"]);
  expect(completed("plaza start --world wor")).toEqual(["world.yaml"]);
  expect(completed("plaza start --port ")).toEqual([]);
  expect(completed("plaza completion ")).toEqual(expect.arrayContaining(["bash", "zsh", "fish"]));
  // The settings of features are also options of the command, so bash completes them too.
  expect(completed("plaza start --label")).not.toEqual([]);
});

test("the scripts of zsh and fish have every command and option of the help", async () => {
  const [zsh, fish] = await Promise.all([scriptOf("zsh"), scriptOf("fish")]);
  const { stdout } = await runPlaza(["listen", "--help"]);
  const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, flag]) => flag as string);
  expect(flags).toEqual(expect.arrayContaining(["print-json", "events", "help"]));
  for (const flag of flags) {
    expect(zsh).toContain(`'--${flag}:`);
    expect(fish).toContain(`complete -c plaza -n '__plaza_at \\' listen\\'' -l ${flag} `);
  }
  expect(fish).toContain("complete -c plaza -n '__plaza_at \\'\\'' -a trigger -d ");
});

test("an unknown shell is refused", async () => {
  expect(await runPlaza(["completion", "tcsh"])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("bash, zsh, fish") });
});
