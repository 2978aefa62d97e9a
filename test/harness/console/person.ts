/** A person at the console: a real browser with its own mouse and keyboard, which presses only what can be seen and reached. */
import { expect } from "bun:test";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { afterThisTest } from "../cleanup.ts";
import { needs } from "../processes/needs.ts";
import type { Server } from "../server.ts";
import { ARTEFACTS, AXE, type Violation } from "./console-page.ts";

needs("chromium");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--mute-audio"];

/** Of a test: a browser starts, and a person looks at many things. On a busy machine that takes most of a test's usual time. */
export const JOURNEY_MS = 120_000;

interface PersonOptions {
  readonly theme?: "light" | "dark";
  readonly path?: string;
}

export class Person {
  readonly page: Page;
  readonly #server: Server;
  /** Errors that the page threw, and resources that the browser refused to load or to run. */
  readonly problems: string[] = [];

  constructor(page: Page, server: Server) {
    this.page = page;
    this.#server = server;
    page.on("console", (message) => {
      if (message.type() === "error") this.problems.push(message.text());
    });
    page.on("pageerror", ({ message }) => this.problems.push(message));
  }

  go(path: string): Promise<unknown> {
    return this.page.goto(`${this.#server.control_url}${path}`);
  }

  /** Goes to a view as people do. */
  async open(view: string): Promise<void> {
    await this.page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: view, exact: true }).click();
  }

  press(name: string): Promise<void> {
    return this.page.getByRole("button", { name, exact: true }).click();
  }

  follow(name: string | RegExp): Promise<void> {
    return this.page.getByRole("link", { name }).first().click();
  }

  fill(label: string, text: string): Promise<void> {
    return this.page.getByLabel(label).first().fill(text);
  }

  async choose(label: string, option: string): Promise<void> {
    await this.page.getByRole("combobox", { name: label, exact: true }).first().selectOption({ label: option });
  }

  /** Clicks a row of the view's list. */
  row(text: string | RegExp): Promise<void> {
    return this.page.getByRole("grid").getByRole("row").filter({ hasText: text }).first().click();
  }

  /** Resolves once all of these can be seen. */
  async shows(...texts: readonly (string | RegExp)[]): Promise<void> {
    for (const text of texts) await this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** Keeps a picture for people, and expects that nothing stands outside it. */
  async look(name: string): Promise<void> {
    await this.page.screenshot({ path: join(ARTEFACTS, `${name}.png`), animations: "disabled" });
    expect({ name, beyond: await this.page.evaluate<number>("document.documentElement.scrollWidth - innerWidth") }).toEqual({ name, beyond: 0 });
  }

  /** The problems that axe finds in the current theme. `leftOut`: selectors of third-party elements; each use gives the reason. */
  async violations(leftOut: readonly string[] = []): Promise<Violation[]> {
    await this.page.evaluate(`${await Bun.file(AXE).text()}; undefined`);
    const run = `axe.run(${JSON.stringify({ exclude: leftOut.map((one) => [one]) })}).then(({ violations }) => violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary) })))`;
    return this.page.evaluate<Violation[]>(run);
  }
}

/** Signed in by the address that the server prints; without a key where `path` is one that needs none. */
export async function personAt(server: Server, { theme = "light", path = "/requests" }: PersonOptions = {}): Promise<Person> {
  const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome");
  if (executablePath === null) throw new Error("there is no Chromium");
  // The test's own time limit ends the waiting, here and below.
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: 0 });
  afterThisTest(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1300, height: 760 }, colorScheme: theme, reducedMotion: "reduce" });
  context.setDefaultTimeout(0);
  const person = new Person(await context.newPage(), server);
  await person.go(path === "/docs" ? path : `${path}#key=${encodeURIComponent(server.control_key)}`);
  return person;
}
