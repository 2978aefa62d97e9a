/** Which listener has an app's callback, when several took it one after the other. */
import { expect, test } from "bun:test";
import type { ControlRequests } from "../control-client.ts";
import { isTaken, takeCallback } from "./callback.ts";
import type { AppEntry } from "./subscribing.ts";

test("a listener has taken the callback, or another took it from there; one of the app's own was taken by none", async () => {
  let app: AppEntry = { id: "1001", secret: "s3cret", callback: { url: "http://own/", verify_token: "of its own" } };
  const control: Pick<ControlRequests, "request"> = {
    request: async (_method: string, _path: string, body?: unknown) => {
      app = { ...app, ...(body as Partial<AppEntry>) };
    },
  } as ControlRequests;
  const taken = () => ["http://first/", "http://second/", "http://third/"].map((url) => isTaken(app, url));
  expect(taken()).toEqual([false, false, false]);
  await takeCallback(control as ControlRequests, app, "http://first/", undefined);
  expect(taken()).toEqual([true, false, false]);
  await takeCallback(control as ControlRequests, app, "http://second/", undefined);
  expect(taken()).toEqual([true, true, false]);
});
