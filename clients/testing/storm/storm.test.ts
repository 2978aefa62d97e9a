import { afterAll, describe, expect, test } from "bun:test";
import { StormFailure, StormUnusable, stopServer, storm, type World, type WorldFile } from "../index.ts";
import { hammeredRequest } from "./failure.ts";
import type { LoggedRequest } from "./observation.ts";

afterAll(stopServer);

const world: WorldFile = {
  profile: "clients",
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Cafe", roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] }],
};

const createPersona = async ({ baseUrl }: World): Promise<void> => {
  const body = new URLSearchParams({ name: "Bo", profile_picture_url: "https://example.com/bo.png", access_token: "page-token" });
  const response = await fetch(`${baseUrl}/v26.0/2001/personas`, { method: "POST", body });
  if (!response.ok) throw new Error(await response.text());
  await response.json();
};

const failureOf = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
};

test("an app that repeats a lost write fails; the report has the fault, the requests, the right behavior and the way to run it again", async () => {
  const seen: string[] = [];
  const options = { world, only: ["lost-after"], onRun: (schedule: string) => void seen.push(schedule) };
  const failed = await failureOf(storm((run) => createPersona(run).catch(() => createPersona(run)), options));
  expect(failed).toBeInstanceOf(StormFailure);
  const { message, report } = failed as StormFailure;
  expect(seen).toEqual(["createPersona#1=lost-after"]);
  expect(report).toMatchObject({ schedules: 1, failures: [{ schedule: "createPersona#1=lost-after" }], unsteady: [] });
  expect(message).toContain("the world ends with 2 personas; without a fault it ends with 1");
  expect(message).toContain("after the fault the app sent the same createPersona again once");
  expect(message).toContain("read whether the write took effect before you send it again");
  expect(message).toContain("set STORM_SCHEDULE='createPersona#1=lost-after', and run this test again");
});

test("D-375: an app that does not look at the responses in a batch fails, and one that does passes", async () => {
  const create = { method: "POST", relative_url: "2001/custom_labels", body: "page_label_name=vip" };
  const send = async ({ baseUrl }: World): Promise<readonly { readonly code: number }[]> => {
    const body = new URLSearchParams({ batch: JSON.stringify([create]), access_token: "page-token" });
    const response = await fetch(`${baseUrl}/v26.0`, { method: "POST", body });
    return (await response.json()) as { code: number }[];
  };
  const invariants = { "one label vip": async (run: World) => (await run.nodes("labels").list()).length === 1 };
  const options = { world, only: ["503", "lost-after"], pairs: 0, invariants, schedule: "createLabel#1=503" };
  const failed = await failureOf(storm(send, options));
  expect((failed as StormFailure).message).toContain("createLabel, the 1st, in a batch: the response is 503");
  expect((failed as StormFailure).message).toContain("check the code of each response in a batch");
  const careful = async (run: World) => {
    const [first] = await send(run);
    if (first?.code === 503) await send(run);
  };
  expect(await storm(careful, options)).toMatchObject({ schedules: 1, failures: [] });
});

test("a broken invariant is a failure, under the name of the invariant", async () => {
  const invariants = { "one persona Bo": async (run: World) => (await run.nodes("personas").list()).length === 1 };
  const failed = await failureOf(storm((run) => createPersona(run).catch(() => {}), { world, only: ["503"], invariants }));
  expect((failed as StormFailure).report.failures).toMatchObject([{ problem: 'the invariant "one persona Bo" does not hold' }]);
});

test("a pair is reported only if neither of its faults fails alone", async () => {
  const labels = async ({ baseUrl }: World) => {
    let lost = 0;
    for (const name of ["vip", "regular"]) {
      const body = new URLSearchParams({ page_label_name: name, access_token: "page-token" });
      // Bun repeats a request by itself if its connection had already served another request.
      await fetch(`${baseUrl}/v26.0/2001/custom_labels`, { method: "POST", body, headers: { connection: "close" } })
        .then((response) => response.text())
        .catch(() => lost++);
    }
    if (lost === 2) throw new Error("both were lost");
  };
  const failed = await failureOf(storm(labels, { world, only: ["lost-before", "lost-after"], pairs: 4 }));
  const { failures, schedules } = (failed as StormFailure).report;
  expect(schedules).toBe(4 + 4);
  expect(failures.map(({ schedule }) => schedule).sort()).toEqual([
    ...["createLabel#1=lost-after+createLabel#2=lost-after", "createLabel#1=lost-after+createLabel#2=lost-before"],
    ...["createLabel#1=lost-before+createLabel#2=lost-after", "createLabel#1=lost-before+createLabel#2=lost-before"],
  ]);
});

test("a scenario that does not end is a failure, and its world is not used again", async () => {
  const worlds = new Set<string>();
  const hangs = async (run: World) => {
    worlds.add(run.name);
    await createPersona(run).catch(() => new Promise(() => {}));
  };
  const failed = await failureOf(storm(hangs, { world, only: ["lost-before"], timeoutMs: 1_500, jobs: 1 }));
  expect((failed as StormFailure).report.failures).toMatchObject([{ problem: "the scenario did not end within 1500 ms" }]);
  expect(worlds.size).toBe(2);
});

test("a scenario that fails, sends nothing or differs without a fault cannot be used, and the error says why", async () => {
  expect(await failureOf(storm(() => Promise.reject(new Error("no luck")), { world }))).toEqual(
    new StormUnusable("the scenario fails without any fault: no luck"),
  );
  expect(String(await failureOf(storm(() => {}, { world })))).toContain("sent no request to the world of its run");
  let times = 0;
  const differs = async (run: World) => {
    if (times++ === 0) await createPersona(run);
    await createPersona(run);
  };
  expect(String(await failureOf(storm(differs, { world })))).toContain("request of createPersona: 2 in the first run, 1 in the second");
  expect(String(await failureOf(storm(createPersona, { world, only: ["504"] })))).toContain("there is no fault 504; there are lost-before");
  expect(String(await failureOf(storm(createPersona, { world, schedule: "createLabel#1=503" })))).toContain("the run has no createLabel#1");
});

test("the error of a scenario that fails without a fault names the last refused request and a webhook that did not arrive", async () => {
  const file: WorldFile = {
    ...world,
    apps: [{ id: "1001", name: "Shop", secret: "s3cret", subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] }],
    chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  };
  const scenario = async (run: World) => {
    await run.inApp.chatapp({ account: "4001", field: "messages", value: { n: 1 } });
    while ((await run.webhooks.list())[0]?.reason !== "no_callback") await Bun.sleep(5);
    const { ok } = await fetch(`${run.baseUrl}/v26.0/2001/personas`, { method: "POST", headers: { authorization: "Bearer wrong" } });
    if (!ok) throw new Error("no luck");
  };
  const [problem, ...clues] = ((await failureOf(storm(scenario, { world: file }))) as StormUnusable).message.split("\n");
  expect(problem).toBe("the scenario fails without any fault: no luck");
  expect(clues).toEqual([
    expect.stringMatching(/^the last refused request: POST \/v26\.0\/2001\/personas → 40\d: ./),
    "a webhook of messages was not delivered: no_callback",
  ]);
});

describe("D-372: the webhooks of a run", () => {
  const withAccounts = { ...world, chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }] };
  const hookOf = (run: World) => run.webhooks.receive({ app: "1001", subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] });
  const send = (run: World, n: number) => run.inApp.chatapp({ account: "4001", field: "messages", value: { n } });

  test("are the same, whether or not the app ends before its last webhooks arrive", async () => {
    let times = 0;
    const scenario = async (run: World) => {
      const hook = await hookOf(run);
      await createPersona(run);
      const endsEarly = ++times === 2;
      if (endsEarly) await hook.close();
      for (const n of [1, 2]) await send(run, n);
      if (!endsEarly) await hook.expect({ match: { field: "messages" }, count: 2, within_ms: 10_000 });
    };
    const { runs } = await storm(scenario, { world: withAccounts, only: ["twice"], pairs: 0 });
    expect(runs.map(({ schedule }) => schedule)).toEqual(["messages#1=twice", "messages#2=twice"]);
    // Two undisturbed runs, and one for each schedule.
    expect(times).toBe(4);
  });

  test("are the same, however many of them share a POST, and a fault affects the POST with its webhook", async () => {
    let times = 0;
    const seen: Record<string, number[]> = {};
    const scenario = async (run: World, { schedule }: { readonly schedule: string }) => {
      const hook = await hookOf(run);
      const [isFirstHere, maySend] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const numbers: number[] = [];
      const all = Promise.withResolvers<void>();
      hook.respond = async ({ events }) => {
        numbers.push(...events.map(({ value }) => (value as { n: number }).n));
        isFirstHere.resolve();
        if (numbers.length >= (schedule === "" ? 3 : 5)) all.resolve();
        await maySend.promise;
        return 200;
      };
      const isBatched = ++times > 1;
      if (!isBatched) maySend.resolve();
      await send(run, 1);
      await isFirstHere.promise;
      for (const n of [2, 3]) await send(run, n);
      maySend.resolve();
      await all.promise;
      seen[schedule] = numbers;
    };
    const { runs } = await storm(scenario, { world: withAccounts, schedule: "messages#3=twice" });
    expect(runs.map(({ schedule, problem }) => ({ schedule, problem }))).toEqual([{ schedule: "messages#3=twice", problem: undefined }]);
    // The second and the third webhook were sent in one POST, and this POST was sent twice.
    expect(seen["messages#3=twice"]).toEqual([1, 2, 3, 2, 3]);
  });
});

test("a world is prepared once, and each run begins with it", async () => {
  const prepare = async (run: World) => void (await run.nodes("labels").create({ page: "2001", name: "vip" }));
  const scenario = async (run: World) => {
    if ((await run.nodes("labels").list()).length !== 1) throw new Error("the label is missing");
    await createPersona(run);
  };
  expect(await storm(scenario, { world, prepare, only: ["slow"] })).toMatchObject({ schedules: 1, failures: [] });
});

test("a request that is refused more than three times because of its rate was not held back", () => {
  const refused = (path: string): LoggedRequest =>
    ({ operation: "listLabels", method: "GET", path, query: "", request_body: "", status: 429 }) as LoggedRequest;
  expect(hammeredRequest([1, 2, 3].map(() => refused("/a")))).toBeUndefined();
  expect(hammeredRequest([1, 2, 3, 4, 5].map((n) => refused(`/${n}`)))).toBeUndefined();
  expect(hammeredRequest([1, 2, 3, 4].map(() => refused("/a")))).toEqual({ operation: "listLabels", count: 4 });
});
