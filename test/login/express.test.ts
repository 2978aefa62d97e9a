/**
 * Checks the Express app of docs/guides/unchanged-programs.md: a person logs in with a browser, through the hosts that the login strategy has built
 * in.
 */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterThisTest } from "#harness/cleanup";
import { freePort } from "#harness/processes/free-port";
import { needs } from "#harness/processes/needs";
import { endAll, newFolder, startPlaza } from "../cli/plaza-process.ts";
import { installed } from "../client-libraries/libraries.ts";
import { fileOfGuide } from "../documents/guide-files.ts";

needs("chromium");

afterEach(endAll);

async function startApp(variables: string, folder: string, port: number): Promise<void> {
  const app = Bun.spawn(["sh", "-c", '. "$0"; exec node app.cjs', variables], {
    ...{ cwd: folder, env: { PATH: process.env.PATH ?? "", PORT: String(port) }, stdout: "pipe", stderr: "inherit" },
  });
  afterThisTest(() => app.kill());
  for await (const chunk of app.stdout) if (new TextDecoder().decode(chunk).includes("ready")) return;
  throw new Error("the app ended");
}

test("D-380, D-381: a person logs in to an unchanged Express app, or cancels", async () => {
  const packages = await installed(join(import.meta.dir, "express"), ["package.json", "package-lock.json"], () => [
    ...["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
  ]);
  const [folder, port] = [newFolder(), await freePort()];
  symlinkSync(join(packages, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "app.cjs"), fileOfGuide("app.cjs"));
  writeFileSync(join(folder, "world.yaml"), fileOfGuide("world.yaml").replace("127.0.0.1:3000", `127.0.0.1:${port}`));
  // The hosts that the app's login strategy has built in.
  const source = readFileSync(join(packages, "node_modules/passport-facebook/lib/strategy.js"), "utf8");
  const hosts = [...new Set([...source.matchAll(/'https:\/\/((?:www|graph)\.[\w.]+)\/'/g)].map(([, host = ""]) => host))];
  expect(hosts).toHaveLength(2);
  const named = hosts.flatMap((host) => ["--as", host]);
  const plaza = await startPlaza(["--data", ":memory:", "--world", "world.yaml", ...named], { cwd: folder }, "intercept");
  const variables = String(plaza.ready.variables_file);
  await startApp(variables, folder, port);

  const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome") ?? "";
  const server = /PLAZA_PROXY_URL='([^']+)'/.exec(readFileSync(variables, "utf8"))?.[1] ?? "";
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  const browser = await chromium.launch({ executablePath, args, proxy: { server }, timeout: 0 });
  afterThisTest(() => browser.close());
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.getByRole("link", { name: "Log in" }).click();
  expect(new URL(page.url()).hostname).toBe(hosts.find((host) => host.startsWith("www.")) ?? "");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Nobody logged in.", { exact: true }).waitFor();
  await page.goto(`http://127.0.0.1:${port}/login`);
  await page.getByLabel("Bob").check();
  await page.getByLabel("email").uncheck();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Hello Bob", { exact: true }).waitFor();
});
