/** The output of a sandbox at its start, which a person reads and pastes. */
import { expect, test } from "bun:test";
import type { RunningPlaza } from "#main";
import { announcement } from "../start.ts";

const ready = {
  ...{ base_url: "http://g:1", app_base_url: "http://g:1/app", microblog_base_url: "http://g:1/m", ads_base_url: "http://g:1/ads" },
  ...{ social_login_host: "http://g:1/login", rtmp_url: null, control_url: "http://c:2", control_key: "key/1" },
};
const demo = { page: "2001", page_token: "page-token", secret: "demo-secret", tokens: [{ token: "app-token", type: "app" }] };
const announced = (more: object = {}, callback?: string, data = ".plaza"): string =>
  announcement({ ready, newestVersion: "v26.0", ...more } as unknown as RunningPlaza, { callback, data });

test("the addresses and the key, one per line; absent ones have no line", () => {
  expect(announced()).toBe(`
Plaza is ready.

  graph         http://g:1
  app           http://g:1/app
  microblog     http://g:1/m
  ads           http://g:1/ads
  social login  http://g:1/login
  console       http://c:2/#key=key%2F1
  control API   http://c:2/v1
  control key   key/1

`);
  // The control key is not printed, because the operator has set the key and knows it.
  const own = announced({ ready: { ...ready, control_key: undefined, rtmp_url: "rtmp://l:3" } });
  expect(own).toContain("\n  live video    rtmp://l:3\n  console       http://c:2\n");
  expect(own).not.toContain("control key");
});

test("the variables by which commands find a server whose data is in memory", () => {
  const line = "\n  export PLAZA_CONTROL_URL=http://c:2 PLAZA_CONTROL_KEY=key/1\n";
  expect(announced({}, undefined, ":memory:")).toContain(line);
  expect(announced()).not.toContain("export");
  expect(announced({ ready: { ...ready, control_key: undefined } }, undefined, ":memory:")).not.toContain("export");
});

test("the callback, and the secret that signs its webhooks", () => {
  expect(announced({}, "http://r/")).toContain(
    "\n  webhooks to   http://r/\n  signed with   the app's secret, which plaza listen --print-secret prints\n",
  );
  expect(announced({ demo }, "http://r/")).toContain("\n  webhooks to   http://r/\n");
  for (const one of [announced({ demo }, "http://r/"), announced({ demo }), announced()]) expect(one).not.toContain("signed with");
});

test("the demo world's tokens, its secret, and requests with the page's token in each of its three places", () => {
  const credentials = "access_token=page-token&oauth_token=page-token";
  const bearer = "-H 'Authorization: Bearer page-token'";
  expect(announced({ demo })).toEndWith(`  control key   key/1

Tokens of the demo world:

  app             app-token

The demo app's secret, which signs its webhooks: demo-secret

Try these requests:

  curl ${bearer} 'http://g:1/v26.0/2001/custom_labels?fields=id,name&${credentials}'
  curl ${bearer} 'http://g:1/v26.0/2001/custom_labels?${credentials}' -d page_label_name=regular
  curl ${bearer} 'http://g:1/v26.0/2001/personas?${credentials}'

`);
});
