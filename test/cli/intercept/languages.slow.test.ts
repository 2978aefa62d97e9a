import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza } from "../plaza-process.ts";
import { readers } from "./languages.ts";

afterEach(endAll);

test("D-380: programs in other languages reach Plaza at the host that they have built in, and no other host", async () => {
  const folder = newFolder();
  const commands = readers(folder, "https://graph.example.com/v26.0/2001?access_token=demo-page-token");
  const script = Object.values(commands).map((command) => command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" "));
  writeFileSync(join(folder, "all.sh"), [...script, "curl -sS https://example.org/"].join("\n"));
  const { stdout, stderr } = await runPlaza(["exec", "--as", "graph.example.com", "--only", "--", "sh", join(folder, "all.sh")]);
  // Java reads the address with two clients.
  expect(stdout.split(/\n|(?<=\})(?=\{)/).filter((line) => line !== "")).toEqual(Array(6).fill('{"id":"2001","name":"Demo cafe"}'));
  expect(stderr).toContain("CONNECT tunnel failed, response 403");
  expect(stderr).toEndWith("plaza: --only refused these hosts, which the command tried to reach:\n  example.org:443  once\n");
});
