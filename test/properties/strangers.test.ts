/**
 * Checks in random worlds that strangers cannot see the accounts, intents and labels of others. The test derives from the world files what a caller
 * may see.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { openPlaza } from "#harness/plaza";
import { tries } from "#harness/proof";
import { READ_SCOPES as scopes } from "#harness/scopes";

const APPS = ["1001", "1002", "1003"];
const USERS = ["3001", "3002"];
const PAGES = ["2001", "2002"];
const ACCOUNTS = ["4001", "4002", "4003"];
const SOLUTIONS = ["4201", "4202"];

const randomWorld = fc.record({
  subscribed: fc.array(fc.subarray(APPS), { minLength: ACCOUNTS.length, maxLength: ACCOUNTS.length }),
  owners: fc.array(fc.constantFrom(...APPS), { minLength: SOLUTIONS.length, maxLength: SOLUTIONS.length }),
  intents: fc.array(
    fc.record({
      waba: fc.constantFrom(...ACCOUNTS),
      destination_waba: fc.option(fc.constantFrom(...ACCOUNTS), { nil: undefined }),
      solution: fc.option(fc.constantFrom(...SOLUTIONS), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  roles: fc.array(fc.subarray(USERS), { minLength: PAGES.length, maxLength: PAGES.length }),
});

test("accounts, numbers, intents and labels are visible to the callers that the world names, and missing for all others", async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async ({ subscribed, owners, intents, roles }) => {
      const plaza = await openPlaza({
        world: {
          apps: APPS.map((id) => ({ id })),
          users: USERS.map((id) => ({ id })),
          pages: PAGES.map((id, i) => ({ id, roles: roles[i]?.map((user) => ({ user, tasks: ["MESSAGING"] })) })),
          labels: PAGES.map((page, i) => ({ id: String(5001 + i), page, name: "l" })),
          chatapp_accounts: ACCOUNTS.map((id, i) => ({ id, subscribed_apps: subscribed[i]?.map((app) => ({ app })) })),
          phone_numbers: ACCOUNTS.map((account, i) => ({ id: String(4101 + i), account })),
          solutions: SOLUTIONS.map((id, i) => ({ id, owner_app: owners[i] })),
          migration_intents: intents.map((intent, i) => JSON.parse(JSON.stringify({ id: String(4301 + i), ...intent }))),
          tokens: APPS.flatMap((app) => USERS.map((user) => ({ token: `${app} ${user}`.replace(" ", "-"), type: "user", app, user, scopes }))),
        },
      });
      const isSubscribed = (account: string | undefined, app: string) =>
        account !== undefined && subscribed[ACCOUNTS.indexOf(account)]?.includes(app) === true;
      for (const app of APPS) {
        for (const user of USERS) {
          const bearer = `${app}-${user}`;
          const look = async (path: string, isSeen: boolean, missing: string, request: object = { bearer }) => {
            const { status, body } = await plaza.get(path, request);
            const other = await plaza.get(path.replace(/\d{4}$/, missing), request);
            expect({ path, bearer, isSeen: status === 200 }).toEqual({ path, bearer, isSeen });
            const plain = (response: unknown, id: string) =>
              JSON.stringify(response)
                .replaceAll(id, "ID")
                .replace(/"pftrace_id":"[^"]*"/, "");
            if (!isSeen) expect({ status, body: plain(body, path.slice(-4)) }).toEqual({ status: other.status, body: plain(other.body, missing) });
          };
          for (const [i, account] of ACCOUNTS.entries()) {
            await look(`/v26.0/${account}`, isSubscribed(account, app), "4999");
            await look(`/v26.0/${4101 + i}`, isSubscribed(account, app), "4999");
          }
          for (const [i, { waba, destination_waba, solution }] of intents.entries()) {
            const isParty =
              isSubscribed(waba, app) ||
              isSubscribed(destination_waba, app) ||
              (solution !== undefined && owners[SOLUTIONS.indexOf(solution)] === app);
            await look(`/v24.0/${4301 + i}`, isParty, "4999");
          }
          for (const [i] of PAGES.entries()) await look(`/v26.0/${5001 + i}`, roles[i]?.includes(user) === true, "5999", { token: bearer });
        }
      }
      await plaza.close();
    }),
    { numRuns: tries(25, 500) },
  );
}, 600_000);
