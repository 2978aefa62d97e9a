import { expect, test } from "bun:test";
import { openControl, SERVED } from "#harness/control";

const served = (stop: () => void) => ({ ...SERVED, stop });

test("a server describes itself, and ends when it is asked to", async () => {
  let stops = 0;
  const { request } = await openControl({}, { server: served(() => stops++) });
  expect(await request("GET", "/v1/server")).toEqual({
    status: 200,
    body: {
      version: "1.2.3",
      pid: 4711,
      started_at: 1_795_000_000.5,
      base_url: "http://127.0.0.1:4000",
      app_base_url: "http://127.0.0.1:4000/app",
      microblog_base_url: "http://127.0.0.1:4000/microblog/v1.0",
      ads_base_url: "http://127.0.0.1:4000/ads",
      social_login_host: "http://127.0.0.1:4000/social-login",
      newest_version: "v26.0",
      data: "memory",
      sandbox: true,
      drain_delay_ms: 0,
      processes: 1,
    },
  });
  expect(stops).toBe(0);
  expect(await request("POST", "/v1/server/stop")).toEqual({ status: 200, body: { success: true } });
  expect(stops).toBe(1);
});

test("a read-only key cannot end it", async () => {
  let stops = 0;
  const { request } = await openControl({}, { server: served(() => stops++) });
  const { key } = (await request("POST", "/v1/control-keys", { access: "read" })).body;
  expect((await request("GET", "/v1/server", undefined, key)).status).toBe(200);
  expect((await request("POST", "/v1/server/stop", undefined, key)).status).toBe(403);
  expect(stops).toBe(0);
});

test("every error of the graph is listed with its form and its cause, without absent keys", async () => {
  const { request, plaza } = await openControl();
  const { data, paging } = (await request("GET", "/v1/errors")).body as { data: Record<string, unknown>[]; paging: object };
  expect(paging).toEqual({});
  expect(data.map(({ name }) => name)).toEqual([...plaza.registry.errors.keys()]);
  const of = (name: string) => data.find((one) => one.name === name);
  expect(of("internalError")).toEqual({
    ...{ name: "internalError", status: 500, code: 1, type: "OAuthException", is_transient: false },
    when: "an unexpected failure inside the server",
    mend: "this is a mistake of Plaza: its log has the details below the trace id",
  });
  expect(of("databaseUnreachable")).toMatchObject({ status: 503, is_transient: true });
  for (const [name, { flatStatus, flatCode, subcode }] of plaza.registry.errors) {
    const own = { flat_status: flatStatus, flat_code: flatCode, subcode };
    const wanted = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const { flat_status, flat_code, subcode: shown } = of(name) ?? {};
    expect({ name, ...JSON.parse(JSON.stringify({ flat_status, flat_code, subcode: shown })) }).toEqual({ name, ...wanted } as never);
  }
  // Each of the following keys occurs in at least one error of the list.
  for (const key of ["flat_status", "flat_code", "subcode"]) expect(data.some((one) => key in one)).toBe(true);
});

test("every known scope is listed once, with the parts of the graph that need it", async () => {
  const { request, plaza } = await openControl();
  const { data } = (await request("GET", "/v1/scopes")).body as { data: { scope: string; areas: string[] }[] };
  expect(data.map(({ scope }) => scope)).toEqual([...plaza.registry.scopes].sort());
  expect(data.filter(({ areas }) => areas.length === 0)).toEqual([]);
  expect(data.find(({ scope }) => scope === "pages_show_list")?.areas).toEqual(["login"]);
  expect(data.find(({ scope }) => scope === "pages_messaging")?.areas).toContain("pages");
});
