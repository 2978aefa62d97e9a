/** Runs the Python app and the Java app of docs/guides/unchanged-programs.md, each from an empty folder as the guide says. */
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "#harness/processes/needs";
import { endAll, newFolder, runPlaza } from "../cli/plaza-process.ts";
import { fileOfGuide } from "../documents/guide-files.ts";
import { installPythonLibrary, run } from "./libraries.ts";

needs("java");

afterEach(endAll);

/** An empty folder with one file of the guide. */
function folderWith(name: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, name), fileOfGuide(name));
  return folder;
}

test("D-380: the Python app of the guide runs with its unchanged library", async () => {
  const env = { PYTHONPATH: join(await installPythonLibrary(), "packages"), PYTHONDONTWRITEBYTECODE: "1" };
  const cwd = folderWith("app.py");
  const find = "from facebook_business.session import FacebookSession; print(FacebookSession.GRAPH)";
  const host = new URL(await run(["python3", "-c", find], cwd, env)).hostname;
  expect(await runPlaza(["exec", "--as", host, "--only", "--", "python3", "app.py"], { cwd, env })).toEqual({
    code: 0,
    stdout: "label regular\nlabel vip\npage Demo cafe\n",
    stderr: "plaza: the command asked for 1 thing that Plaza does not have:\n  the field fan_count of page, once, by app 1001\n",
  });
});

test("D-380: the Java app of the guide runs with the JDK alone", async () => {
  const cwd = folderWith("App.java");
  const { code, stdout, stderr } = await runPlaza(["exec", "--as", "graph.example.com", "--only", "--", "java", "App.java"], { cwd });
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Picked up JAVA_TOOL_OPTIONS: [^\n]*\n$/) });
  const [made = "", listed = ""] = stdout.split("\n");
  expect(made).toStartWith('200 {"id":"');
  const { data, paging } = JSON.parse(listed.replace(/^200 /, ""));
  expect([data[0].name, new URL(paging.next).origin]).toEqual(["regular", "https://graph.example.com"]);
});
