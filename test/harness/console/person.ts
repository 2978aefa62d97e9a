/** A person at the console: a real browser with a mouse and a keyboard of its own, which presses only elements that can be seen and reached. */
import { expect } from "bun:test";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { afterThisTest } from "../cleanup.ts";
import { needs } from "../processes/needs.ts";
import type { Server } from "../server.ts";
import { ARTEFACTS, AXE, type Violation } from "./console-page.ts";

needs("chromium");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--mute-audio"];

/** The time limit of a test with a person: a browser starts, and the person looks at many things, which takes long on a busy machine. */
export const JOURNEY_MS = 40_000;

interface PersonOptions {
  readonly theme?: "light" | "dark";
  readonly path?: string;
}

export class Person {
  readonly page: Page;
  readonly #server: Server;
  /** The errors that the page threw, and the resources that the browser refused to load or run. */
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

  /** Goes to a view by its link in the navigation, as people do. */
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

  /** Clicks the row of the view's list that contains the text. */
  row(text: string | RegExp): Promise<void> {
    return this.page.getByRole("grid").getByRole("row").filter({ hasText: text }).first().click();
  }

  /** The promise resolves once the person can see all the texts. */
  async shows(...texts: readonly (string | RegExp)[]): Promise<void> {
    for (const text of texts) await this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** Saves a screenshot for people, and expects that no element is outside the page. */
  async look(name: string): Promise<void> {
    await this.page.screenshot({ path: join(ARTEFACTS, `${name}.png`), animations: "disabled" });
    expect({ name, beyond: await this.page.evaluate<number>("document.documentElement.scrollWidth - innerWidth") }).toEqual({ name, beyond: 0 });
  }

  /**
   * The problems that axe finds in the current theme. `leftOut` has selectors of third-party elements that the check ignores; each use gives the
   * reason.
   */
  async violations(leftOut: readonly string[] = []): Promise<Violation[]> {
    await this.page.evaluate(`${await Bun.file(AXE).text()}; undefined`);
    const run = `axe.run(${JSON.stringify({ exclude: leftOut.map((one) => [one]) })}).then(({ violations }) => violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary) })))`;
    return this.page.evaluate<Violation[]>(run);
  }
}

/**
 * Opens the console for a person, signed in by the address that the server prints. If `path` needs no control key, the console opens it without one.
 */
export async function personAt(server: Server, { theme = "light", path = "/requests" }: PersonOptions = {}): Promise<Person> {
  const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome");
  if (executablePath === null) throw new Error("Chromium is not installed");
  // This wait and those below have no time limit of their own, because the time limit of the test ends them.
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: 0 });
  afterThisTest(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1300, height: 760 }, colorScheme: theme, reducedMotion: "reduce" });
  context.setDefaultTimeout(0);
  const person = new Person(await context.newPage(), server);
  await person.go(path === "/docs" ? path : `${path}#key=${encodeURIComponent(server.control_key)}`);
  return person;
}
