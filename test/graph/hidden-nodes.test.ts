/**
 * Checks that a request for a node that the caller may not see costs the server the same work as a request for a missing node (D-336). The test
 * counts work instead of time, because times differ on every machine. The world is not a sandbox, because a sandbox also records the unserved names
 * of requests (D-394).
 */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { countStatements, StepCounter } from "#harness/counted-steps";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza, type TestRequest } from "#harness/plaza";

const MISSING = "7777777";
/**
 * The test allows an eighth more steps for a hidden node: the server keeps the node in the cache, reads its columns, and sends a longer list in a
 * statement.
 */
const STEPS_BESIDE = 60;
const scopes = ["pages_manage_posts", "pages_read_engagement", "chatapp_business_management"];

const world = {
  apps: [
    { id: "1001", name: "Shop" },
    { id: "1002", name: "Other" },
  ],
  users: [{ id: "3001", name: "Bo" }],
  pages: [
    { id: "2001", name: "Cafe" },
    { id: "2002", name: "Bar" },
    { id: "2003", name: "Inn", roles: [{ user: "3001", tasks: ["CREATE_CONTENT"] }] },
  ],
  live_videos: [
    { id: "5301", page: "2001", status: "LIVE" },
    { id: "5302", page: "2001", status: "LIVE", crossposted_pages: ["2002"] },
    { id: "5303", page: "2001", status: "UNPUBLISHED" },
  ],
  chatapp_accounts: [
    { id: "4001", name: "Chat", subscribed_apps: [{ app: "1002" }] },
    { id: "4002", name: "Chat 2" },
  ],
  solutions: [{ id: "4701", name: "Solution", owner_app: "1002" }],
  migration_intents: [
    { id: "4801", waba: "4001", solution: "4701", status: "INITIATED" },
    { id: "4802", waba: "4001", destination_waba: "4002", status: "INITIATED" },
    { id: "4803", waba: "4001", status: "INITIATED" },
  ],
  tokens: [
    { token: "person", type: "user", app: "1001", user: "3001", scopes },
    { token: "page", type: "page", app: "1001", page: "2003", scopes },
  ],
};

onEachDatabase("D-336: a hidden node", (database) => {
  /** Returns a function that sends a request, and returns its response and its statements and steps. */
  async function open(profile: "strict" | "clients") {
    const plaza: TestPlaza = await openPlaza({ database, profile, world, isSandbox: false });
    const steps = new StepCounter();
    const statements: string[] = [];
    countStatements(plaza.world.database, (_, text) => {
      // The server may read the caller's own token and app again if the notice of the import arrives late.
      if (!/FROM (apps a|tokens t)\b/.test(text)) statements.push(text.replaceAll(/ IN \([?, ]+\)/g, " IN (LIST)"));
    });
    steps.start();
    afterThisTest(() => steps.stop());
    return async (method: string, path: string, request: TestRequest) => {
      steps.take();
      const { status, body } = await plaza.request(method, path, request);
      return { status, code: body.error?.code ?? body.code, statements: statements.splice(0).sort(), steps: steps.take() };
    };
  }

  for (const profile of ["strict", "clients"] as const) {
    test(`[${profile}] takes as many statements and steps as a missing one`, async () => {
      const work = await open(profile);
      for (const token of ["person", "page"]) {
        for (const path of ["/v25.0/ID", "/v18.0/ID", "/v25.0/ID/comments", "/v25.0/ID/nothing"]) {
          for (const method of ["GET", "POST", "DELETE"]) {
            const ask = (id: string) => work(method, path.replace("ID", id), { bearer: token });
            const askOften = async (id: string) => {
              const all = [await ask(id), await ask(id), await ask(id)];
              const { steps: _, ...work } = all[0] as (typeof all)[number];
              expect(all).toEqual(all.map(({ steps }) => ({ ...work, steps })));
              // The count also includes steps of background work that runs meanwhile. The driver of PostgreSQL takes some steps for each network
              // packet, and the number of packets varies.
              return { ...work, steps: database === "sqlite" ? Math.min(...all.map(({ steps }) => steps)) : 0 };
            };
            await ask(MISSING);
            const missing = await askOften(MISSING);
            for (const id of ["5301", "5302", "5303", "4801", "4802", "4803"]) {
              const hidden = await askOften(id);
              expect({ method, path, token, id, hidden }).toEqual({ method, path, token, id, hidden: { ...missing, steps: hidden.steps } });
              expect(Math.abs(hidden.steps - missing.steps)).toBeLessThan(STEPS_BESIDE);
            }
          }
        }
      }
    });
  }
});
