/** What `plaza listen` takes of an app and gives back, where several take it one after another and end in any order. */
import { describe, expect, test } from "bun:test";
import { ControlRefusal, type ControlRequests } from "../control-client.ts";
import { giveBack, isTaken, takeCallback } from "./callback.ts";
import { type AppEntry, findApp, type Subscribed } from "./subscribing.ts";

const OWN = { url: "http://own/", verify_token: "own", verified: true };
const SUBSCRIPTIONS = [{ object: "page", fields: ["feed"], callback: { url: "http://pages/" } }] as const;

/** An app as the control API keeps it, and the pages that were given back. */
function appWith(entry: Partial<AppEntry> = { callback: OWN, subscriptions: SUBSCRIPTIONS }) {
  const state = { app: { id: "1001", secret: "s3cret", ...entry } as AppEntry | undefined };
  const changes: string[] = [];
  const control = {
    request: async (method: string, path: string, body?: Partial<AppEntry>) => {
      if (!path.startsWith("nodes/apps")) {
        if (method === "PATCH") changes.push(path);
        return { id: path };
      }
      if (state.app === undefined) throw new ControlRefusal("there is no app 1001");
      if (method === "PATCH") {
        changes.push("app");
        const { callback, ...rest } = { ...state.app, ...body };
        state.app = callback === null ? (rest as AppEntry) : ({ ...rest, callback } as AppEntry);
      }
      return state.app;
    },
  } as unknown as ControlRequests;
  /** Takes the app, as the listener at `url` does, and returns what ends it. */
  const listen = async (url: string, fields?: Parameters<typeof takeCallback>[3]) => {
    await takeCallback(control, await findApp(control, "1001"), url, fields);
    const page: Subscribed = { object: "page", id: new URL(url).hostname, before: { id: "" } };
    return () => giveBack(control, "1001", url, [page]);
  };
  /** In whatever order. */
  const pages = () => changes.filter((path) => path !== "app").sort();
  return { state, control, listen, changes, pages };
}

const URLS = ["http://a/", "http://b/", "http://c/"] as const;
const PAGES = ["nodes/pages/a", "nodes/pages/b", "nodes/pages/c"];

describe("the last one that took it receives", () => {
  test("all that the app is subscribed to, at one address, or what is named", async () => {
    const { state, listen } = appWith();
    await listen("http://a/");
    expect(state.app).toMatchObject({ callback: { url: "http://a/", verified: true }, subscriptions: [{ object: "page", fields: ["feed"] }] });
    expect(state.app?.subscriptions?.[0]).not.toHaveProperty("callback");
    await listen("http://b/", { social: ["comments"] });
    expect(state.app).toMatchObject({ callback: { url: "http://b/" }, subscriptions: [{ object: "social", fields: ["comments"] }] });
    expect(URLS.map((url) => isTaken(state.app as AppEntry, url))).toEqual([true, true, false]);
    expect(isTaken(appWith().state.app as AppEntry, "http://a/")).toBe(false);
    expect(isTaken({ id: "1", secret: "" }, "http://a/")).toBe(false);
  });

  test.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
    "and in whichever order three of them end, %j, the app is as it was, and each page is given back once, at the end",
    async (order) => {
      for (const before of [{ callback: OWN, subscriptions: SUBSCRIPTIONS }, { subscriptions: SUBSCRIPTIONS }, {}]) {
        const { state, listen, pages } = appWith(before);
        const original = { subscriptions: [], ...state.app } as AppEntry;
        const ends = [await listen(URLS[0]), await listen(URLS[1]), await listen(URLS[2])];
        const left = new Set([0, 1, 2]);
        for (const one of order) {
          await ends[one]?.();
          left.delete(one);
          const newest = Math.max(...left);
          if (left.size > 0) {
            expect(state.app?.callback?.url).toBe(URLS[newest] as string);
            for (const each of left) expect(isTaken(state.app as AppEntry, URLS[each] as string)).toBe(true);
            expect(isTaken(state.app as AppEntry, URLS[one] as string)).toBe(false);
          }
        }
        expect(state.app).toEqual(original);
        expect(pages()).toEqual(PAGES);
      }
    },
  );
});

test("one that begins when another has ended gives back what was left by that one, too, and its note holds no other's", async () => {
  const { state, listen, pages } = appWith();
  const original = state.app;
  const [endA, endB] = [await listen("http://a/"), await listen("http://b/")];
  await endA();
  const length = state.app?.callback?.verify_token?.length as number;
  const endC = await listen("http://c/");
  // Each is noted once.
  expect(state.app?.callback?.verify_token?.length).toBeLessThan(2 * length);
  expect(pages()).toEqual([]);
  await endB();
  await endC();
  expect(state.app).toEqual(original);
  expect(pages()).toEqual(PAGES);
});

test("what somebody else has made the callback since then stays, and pages are given back all the same", async () => {
  const { state, listen, pages, control } = appWith();
  const end = await listen("http://a/");
  const other = { url: "http://other/", verified: true };
  await control.request("PATCH", "nodes/apps/1001", { callback: other });
  await end();
  expect(state.app?.callback).toEqual(other);
  expect(pages()).toEqual(["nodes/pages/a"]);
});

test("a listener whose world was made anew leaves the app to the one that has taken it there", async () => {
  const { state, listen, pages } = appWith();
  const original = state.app;
  const endA = await listen("http://a/");
  state.app = original;
  const endB = await listen("http://b/");
  await endA();
  expect(state.app?.callback?.url).toBe("http://b/");
  expect(pages()).toEqual(["nodes/pages/a"]);
  await endB();
  expect(state.app).toEqual(original);
});

test("an app that was deleted is no error; a server that does not respond is", async () => {
  const { state, listen, pages } = appWith();
  const end = await listen("http://a/");
  state.app = undefined;
  await end();
  expect(pages()).toEqual(["nodes/pages/a"]);
  const away = { request: () => Promise.reject(new Error("no server")) } as unknown as ControlRequests;
  await expect(giveBack(away, "1001", "http://a/", [])).rejects.toThrow("no server");
});
