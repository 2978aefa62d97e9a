/** The console in a headless browser, signed in as a person who follows the address that the server prints. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, type Page } from "../live/browser.ts";
import type { Server } from "../server.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
/** An expression for the text of the page. The text of a page that is still loading is empty, because the page has no body yet. */
const TEXT = 'document.body?.innerText ?? ""';

/** The folder of screenshots, for people who look into a failure or at the console. */
export const ARTEFACTS = join(ROOT, "test-artefacts/console");
export const AXE = join(ROOT, "console/node_modules/axe-core/axe.min.js");

export interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly string[];
}

export class ConsolePage {
  readonly page: Page;
  readonly #url: string;

  constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
  }

  evaluate<T>(expression: string): Promise<T> {
    return this.page.evaluate<T>(this.#url, expression);
  }

  text(): Promise<string> {
    return this.evaluate<string>(TEXT);
  }

  /** Resolves with the text of the page once the text contains all the given texts. */
  async shows(...texts: readonly string[]): Promise<string> {
    return this.page.evaluateUntil<string>(this.#url, TEXT, (shown) => texts.every((text) => shown.includes(text)));
  }

  async showsNot(text: string): Promise<void> {
    await this.page.evaluateUntil<string>(this.#url, TEXT, (shown) => !shown.includes(text));
  }

  /** Clicks the first button or link whose name begins with the text, once it is there and can be pressed. */
  async click(name: string): Promise<void> {
    const expression = `(() => {
      const wanted = ${JSON.stringify(name)};
      const found = [...document.querySelectorAll("button,a,[role=menuitem],[role=row],[role=tab],[role=option],summary,label")].find(
        (one) => !one.disabled && (one.getAttribute("aria-label") ?? one.innerText).trim().startsWith(wanted));
      found?.click();
      return found !== undefined;
    })()`;
    await this.page.evaluateUntil<boolean>(this.#url, expression, (isThere) => isThere);
  }

  /** Clicks the first element that matches the selector, and has the text if one is given, once the element is there and can be pressed. */
  async press(selector: string, text?: string): Promise<void> {
    const expression = `(() => {
      const text = ${JSON.stringify(text)};
      const found = [...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => !one.disabled && (text === undefined || one.innerText === text));
      found?.click();
      return found !== undefined;
    })()`;
    await this.page.evaluateUntil<boolean>(this.#url, expression, (isThere) => isThere);
  }

  /** Sets the value of the field with this label, like a person who types. */
  async fill(label: string, value: string): Promise<void> {
    const expression = `(() => {
      const wanted = ${JSON.stringify(label)};
      const named = (one) => one.getAttribute("aria-label") ?? [...(one.labels ?? [])].map((label) => label.innerText).join(" ");
      const found = [...document.querySelectorAll("input,select,textarea")].find((one) => named(one).trim().startsWith(wanted));
      if (found === undefined) return false;
      const prototype = { INPUT: HTMLInputElement, SELECT: HTMLSelectElement, TEXTAREA: HTMLTextAreaElement }[found.tagName].prototype;
      Object.getOwnPropertyDescriptor(prototype, "value").set.call(found, ${JSON.stringify(value)});
      found.dispatchEvent(new Event("input", { bubbles: true }));
      found.dispatchEvent(new Event("change", { bubbles: true }));
      return true;
    })()`;
    await this.page.evaluateUntil<boolean>(this.#url, expression, (isThere) => isThere);
  }

  /** Replaces the text of the JSON editor, once the editor is there. */
  async write(text: string): Promise<void> {
    const expression = `(() => {
      const editor = document.querySelector(".cm-content");
      editor?.focus();
      document.execCommand("selectAll");
      return editor !== null && document.execCommand("insertText", false, ${JSON.stringify(text)});
    })()`;
    await this.page.evaluateUntil<boolean>(this.#url, expression, (isWritten) => isWritten);
  }

  async go(path: string): Promise<void> {
    await this.page.send("Page.navigate", { url: `${this.#url}${path}` });
  }

  screenshot(name: string): Promise<void> {
    return this.page.screenshot(join(ARTEFACTS, `${name}.png`));
  }

  async setTheme(theme: "light" | "dark"): Promise<void> {
    await this.page.send("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: theme },
        // Motion is off, because the colours during a transition are not those of the theme.
        { name: "prefers-reduced-motion", value: "reduce" },
      ],
    });
  }

  /** The accessibility problems that axe finds, in both themes. */
  async violations(): Promise<Violation[]> {
    const source = readFileSync(AXE, "utf8");
    await this.evaluate(`${source}; undefined`);
    const found: Violation[] = [];
    for (const theme of ["light", "dark"] as const) {
      await this.setTheme(theme);
      const run = `axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) => ({ id: "${theme} " + id, help, nodes: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary) })))`;
      found.push(...(await this.evaluate<Violation[]>(run)));
    }
    return found;
  }
}

/** Opens the console. `key` replaces the server's control key; an empty key opens the console without one. `flags` are options of the browser. */
export async function openConsole(
  server: Server,
  path = "/requests",
  key: string | undefined = server.control_key,
  flags: readonly string[] = [],
): Promise<ConsolePage> {
  const page = await openPage(`${server.control_url}${path}${key === undefined || key === "" ? "" : `#key=${encodeURIComponent(key)}`}`, flags);
  return new ConsolePage(page, server.control_url);
}
