/** Tests commands that call the control API in their own process because no server uses the data. */
import { beforeEach, expect, spyOn, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { temporaryFolder } from "#harness/server";
import { show } from "../ask-route.ts";
import { withOwnServer } from "../control-client.ts";

beforeEach(() => variables({ PLAZA_CONTROL_URL: undefined, PLAZA_CONTROL_KEY: undefined, PLAZA_DATA: undefined, PLAZA_CONFIG: undefined }));

test("the data is created if the command may create it, and released when the command ends in any way", async () => {
  const data = join(temporaryFolder(), "data");
  const streams = written();
  const create = () =>
    withOwnServer({ data }, async ({ request }) => show(await request("POST", "nodes/apps", { name: "Mine" })), { makesData: true });
  expect(await create()).toBe(0);
  const failed = withOwnServer({ data }, () => Promise.reject(Object.assign(new Error("what to change"), { name: "ConfigProblem" })));
  expect(await failed).toBe(2);
  expect(await create()).toBe(0);
  expect(streams.out.match(/"name": "Mine"/g)).toHaveLength(2);
  expect(streams.err).toBe("plaza: what to change\n");
});

test("data that another program uses is left alone, and the message says how to ask that program", async () => {
  const data = temporaryFolder();
  const streams = written();
  const second = () => withOwnServer({ data }, async () => 0, { makesData: true });
  expect(await withOwnServer({ data }, second, { makesData: true })).toBe(2);
  expect(streams.err).toEndWith("plaza: to ask the server that uses the data, set --control-url and PLAZA_CONTROL_KEY\n");
  expect(await second()).toBe(0);
});

test("without data nothing is created, and a key that does not exist cannot be replaced", async () => {
  const data = join(temporaryFolder(), "data");
  const streams = written();
  expect(await withOwnServer({ data }, async () => 0)).toBe(2);
  expect(streams.err).toBe(`plaza: --data: there is no data in ${data}; plaza start or plaza token create-app creates it\n`);
  expect(existsSync(data)).toBe(false);
  Object.assign(streams, { err: "" });
  expect(await withOwnServer({ data }, async () => 0, { isKeyReplaced: true, makesData: true })).toBe(2);
  expect(streams.err).toBe("plaza: PLAZA_CONTROL_KEY: is required: set it to the control key that you want to replace\n");
});

test("a named server is asked, with the request's headers and its key; a missing server is reported", async () => {
  const stub = controlStub();
  const streams = written();
  variables({ PLAZA_CONTROL_KYE: "1" });
  const code = await withOwnServer(stub.given, async (control) => {
    const response = await control.send("/v1/x", { method: "PUT", body: "text", headers: { accept: "text/plain" } });
    return response.status;
  });
  expect(code).toBe(200);
  expect(stub.asked).toEqual([{ method: "PUT", path: "/v1/x", body: "text" }]);
  expect([stub.headers[0]?.get("accept"), stub.headers[0]?.get("authorization")]).toEqual(["text/plain", `Bearer ${stub.key}`]);
  expect(streams.err).toBe("plaza: Plaza does not read the variable PLAZA_CONTROL_KYE; did you mean PLAZA_CONTROL_KEY?\n");
  Object.assign(streams, { err: "" });
  variables({ PLAZA_CONTROL_KYE: undefined });
  const away = withOwnServer({ ...stub.given, control_url: "http://127.0.0.1:1" }, async (control) => (await control.send("/")).status);
  expect(await away).toBe(2);
  expect(streams.err).toBe("plaza: --control-url: no server listens at http://127.0.0.1:1\n");
});

test("the command's own server opens no port, does no background work, and uses no proxy", async () => {
  const data = join(temporaryFolder(), "data");
  const app = {
    ...{ id: "1001", secret: "s", callback: { url: "http://127.0.0.1:9/", verified: true } },
    subscriptions: [{ object: "page", fields: ["custom_labels"] }],
  };
  variables({ HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" });
  const listeners = spyOn(Bun, "listen");
  afterThisTest(() => listeners.mockRestore());
  const code = await withOwnServer(
    { data },
    async ({ request }) => {
      expect(listeners).not.toHaveBeenCalled();
      await request("POST", "import", {
        apps: [app],
        pages: [{ id: "2001", subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] }],
      });
      const { deliveries } = await request("POST", "deliveries/trigger", { object: "page", field: "custom_labels", entity: "2001" });
      expect(deliveries).toHaveLength(1);
      expect(await request("GET", `deliveries/${deliveries[0]}`)).toMatchObject({ status: "waiting", attempts: [] });
      return 0;
    },
    { makesData: true },
  );
  expect(code).toBe(0);
});
