/** Checks the login dialog in a browser: with the keyboard alone, in a narrow window, and against attacks by pages of other sites. */
import { expect, test } from "bun:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterThisTest } from "#harness/cleanup";
import { AXE } from "#harness/console/console-page";
import { needs } from "#harness/processes/needs";
import { type Server, startServer, worldFile } from "#harness/server";

needs("chromium");

/** The time limit of a test: a browser starts, which takes long on a busy machine. */
const TEST_MS = 120_000;

/** The app's site, which records the URLs to which people are redirected back, and also has the attacker's page. */
function startSite() {
  const came: URL[] = [];
  let page = "";
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const url = new URL(request.url);
      if (url.pathname === "/back") came.push(url);
      const texts: Record<string, string> = { "/back": "You are back", "/framed": "<em>Framed</em>" };
      return new Response(texts[url.pathname] ?? page, { headers: { "content-type": "text/html" } });
    },
  });
  afterThisTest(() => server.stop(true));
  return {
    came,
    framed: `http://127.0.0.1:${server.port}/framed`,
    back: `http://127.0.0.1:${server.port}/back`,
    /** The address of the attacker's page. For browsers, localhost and 127.0.0.1 are different sites. */
    evil: `http://localhost:${server.port}/evil`,
    show(html: string) {
      page = `<!doctype html><body>${html}</body>`;
    },
  };
}

async function open() {
  const site = startSite();
  const server = await startServer(["--profile", "clients", "--world"].concat(worldFile(worldWith(site.back))));
  const executablePath = Bun.which("chromium") ?? Bun.which("google-chrome") ?? "";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"], timeout: 0 });
  afterThisTest(() => browser.close());
  return { site, server, browser };
}

const worldWith = (back: string) => ({
  apps: [{ id: "1001", name: `Shop ${"of a very long name ".repeat(8)}`, secret: "s3cret", redirect_uris: [back] }],
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: `Bob${"o".repeat(80)}` },
  ],
});

async function newPage(browser: Browser, colorScheme: "light" | "dark" = "light"): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 390, height: 700 }, colorScheme });
  context.setDefaultTimeout(0);
  return context.newPage();
}

const LONG = `a${"_long_name".repeat(9)}`;
const dialogOf = ({ base_url }: Server, redirect_uri: string, more: Record<string, string> = {}) =>
  `${base_url}/v26.0/dialog/oauth?${new URLSearchParams({ client_id: "1001", redirect_uri, scope: `email,${LONG}`, state: "s", ...more })}`;

/** The ids of the problems that axe finds, and the pixels by which the page is wider than the window. */
async function faultsOf(page: Page): Promise<{ violations: string[]; beyond: number }> {
  // The page has a policy that allows no scripts; a script that the test runs through the browser is not subject to it.
  await page.evaluate(`${await Bun.file(AXE).text()}; undefined`);
  return {
    violations: await page.evaluate<string[]>("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))"),
    beyond: await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"),
  };
}

const focused = (page: Page) => page.evaluate<string>("document.activeElement.value ?? document.activeElement.tagName");

async function tabTo(page: Page, value: string): Promise<void> {
  for (let steps = 0; steps < 10 && (await focused(page)) !== value; steps++) await page.keyboard.press("Tab");
  expect(await focused(page)).toBe(value);
}

test(
  "D-381, D-384: a person logs in with keys alone in a narrow window, and is not asked again for a declined permission",
  async () => {
    const { site, server, browser } = await open();
    const page = await newPage(browser);
    await page.goto(dialogOf(server, site.back));
    expect(await faultsOf(page)).toEqual({ violations: [], beyond: 0 });
    await tabTo(page, "3001");
    await page.keyboard.press("ArrowDown");
    await tabTo(page, "email");
    await page.keyboard.press("Space");
    await tabTo(page, "allow");
    await page.keyboard.press("Enter");
    await page.getByText("You are back").waitFor();
    expect(site.came[0]?.searchParams.get("state")).toBe("s");
    const exchange = new URLSearchParams({ client_id: "1001", client_secret: "s3cret", redirect_uri: site.back });
    exchange.set("code", site.came[0]?.searchParams.get("code") ?? "");
    const { access_token } = (await (await fetch(`${server.base_url}/oauth/access_token?${exchange}`)).json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    expect(await (await fetch(`${server.base_url}/v26.0/me`, { headers })).json()).toMatchObject({ id: "3002" });

    await page.goto(dialogOf(server, site.back));
    const email = page.getByRole("checkbox", { name: "email" });
    expect(await email.isVisible()).toBe(true);
    await page.getByRole("radio", { name: /^Bob/ }).check();
    expect([await email.isVisible(), await page.getByRole("checkbox", { name: LONG }).isVisible()]).toEqual([false, true]);
    expect(await faultsOf(page)).toEqual({ violations: [], beyond: 0 });
    await page.goto(dialogOf(server, site.back, { auth_type: "rerequest" }));
    await page.getByRole("radio", { name: /^Bob/ }).check();
    expect(await email.isVisible()).toBe(true);
    // A person can press Cancel without filling in the form.
    await tabTo(page, "cancel");
    await page.keyboard.press("Enter");
    await page.getByText("You are back").waitFor();
    expect(site.came[1]?.searchParams.get("error_reason")).toBe("user_denied");

    const dark = await newPage(browser, "dark");
    for (const address of [dialogOf(server, site.back), dialogOf(server, `${site.back}/${"x".repeat(300)}`)]) {
      await dark.goto(address);
      expect(await faultsOf(dark)).toEqual({ violations: [], beyond: 0 });
    }
  },
  TEST_MS,
);

test(
  "D-381: pages of other sites can neither frame the dialog nor answer it",
  async () => {
    const { site, server, browser } = await open();
    const page = await newPage(browser);
    // This browser has opened the dialog, so it has the dialog's cookie.
    await page.goto(dialogOf(server, site.back));
    const frames = await newPageOf(page);
    const countIn = async (address: string, selector: string): Promise<number | undefined> => {
      site.show(`<iframe src="${address.replaceAll("&", "&amp;")}"></iframe>`);
      await frames.goto(site.evil);
      return frames.frames()[1]?.locator(selector).count();
    };
    // An ordinary page can be framed, unlike the dialog.
    expect(await countIn(site.framed, "em")).toBe(1);
    expect(await countIn(dialogOf(server, site.back), "[name=form_token]")).toBe(0);

    // The attacker has a copy of the form from her own browser, or even of the form in this person's browser.
    const others = await (await fetch(dialogOf(server, site.back))).text();
    const forms = [/name="form_token" value="([^"]+)"/.exec(others)?.[1] ?? "", await page.locator("[name=form_token]").inputValue()];
    for (const form_token of forms) {
      const field = (name: string, value: string) => `<input name="${name}" value="${value}">`;
      const fields = field("form_token", form_token) + field("person", "3001") + field("scope", "email") + field("action", "allow");
      site.show(`<form method="post" action="${server.base_url}/dialog/oauth">${fields}<button>Win</button></form>`);
      await frames.goto(site.evil);
      const [response] = await Promise.all([frames.waitForResponse((one) => one.request().method() === "POST"), frames.getByText("Win").click()]);
      // Pages on loopback may use a sandbox; but when a page of another site sends the form, the browser sends no cookie with it.
      expect(response.status()).toBe(400);
    }
    expect(site.came).toEqual([]);
    // The person's own page of the dialog still works.
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("You are back").waitFor();
    expect(site.came).toHaveLength(1);
  },
  TEST_MS,
);

/** The tab belongs to the same browser as the dialog. */
const newPageOf = (page: Page): Promise<Page> => page.context().newPage();
