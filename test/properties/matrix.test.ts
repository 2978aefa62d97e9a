/**
 * Checks every caller with every operation of the interface: tokens that do not suffice are refused with a declared error, and refused requests
 * change nothing.
 */
import { describe, expect, test } from "bun:test";
import { type TokenKind, tokenKinds } from "#auth/token";
import type { Endpoint } from "#graph/contract/registry";
import { exportWorld } from "#graph/worlds/file/import-export";
import { databaseKinds } from "#harness/databases";
import { nodeOfType, openFullPlaza } from "#harness/full-world";
import type { TestPlaza, TestResponse } from "#harness/plaza";
import { READ_SCOPES } from "#harness/scopes";
import { nodeId } from "#kernel/ids";

/** Sends the request with one token in every place where tokens may stand, so that a refusal concerns the token itself. */
function requestWith(plaza: TestPlaza, endpoint: Endpoint, token: string): Promise<TestResponse> {
  const { access, served, nodeType } = endpoint;
  const id = nodeType === undefined ? undefined : nodeOfType[nodeType];
  if (nodeType !== undefined && id === undefined) throw new Error(`test/harness/full-world.ts has no node of the type ${nodeType}`);
  const surface = access.surfaces[0] ?? "base";
  const version = surface === "app" || surface === "microblog" ? "" : "/v25.0";
  const edge = served?.contract.edge ?? undefined;
  const path = `${version}${id === undefined ? "" : `/${id}`}${edge === undefined ? "" : `/${edge}`}`;
  return plaza.request(served?.contract.method ?? "GET", path, { surface, token, headers: { "x-forwarded-for": "192.0.2.1" } });
}

/** The endpoints of the profile `strict`, without those that only the profile `clients` has. */
const endpointsOf = ({ registry }: TestPlaza): readonly Endpoint[] => registry.endpoints.filter(({ access }) => access.surfaces.length > 0);

const errorOf = ({ body }: TestResponse) => body?.error ?? body;

/** Expects that the server refuses the caller, or responds as for a node that does not exist. */
function expectRefusal(endpoint: Endpoint, who: string, response: TestResponse): void {
  const { code, error_subcode } = errorOf(response);
  const isRefusal = [10, 104, 190, 200, 803].includes(code) || (code === 100 && error_subcode === 33);
  const { status } = response;
  const seen = { operation: endpoint.access.operation, who, status, code, error_subcode };
  expect({ ...seen, isRefusal, isError: status >= 400 }).toEqual({ ...seen, isRefusal: true, isError: true });
}

const none = { user: undefined, page: undefined, social_account: undefined, microblog_user: undefined };
const stranger = { user: nodeId("3002"), page: nodeId("2002"), social_account: nodeId("6002"), microblog_user: nodeId("7002") };
const own = { user: nodeId("3001"), page: nodeId("2001"), social_account: nodeId("6001"), microblog_user: nodeId("7001") };

function principal(kind: TokenKind, of: typeof own) {
  if (kind === "user" || kind === "system_user") return { ...none, user: of.user };
  if (kind === "page") return { ...none, page: of.page };
  if (kind === "social_user") return { ...none, social_account: of.social_account };
  if (kind === "microblog_user") return { ...none, microblog_user: of.microblog_user };
  return none;
}

const mint = (plaza: TestPlaza, type: TokenKind, words: object) =>
  plaza.mint({ type, app: nodeId("1001"), scopes: READ_SCOPES, ...principal(type, own), ...words } as Parameters<TestPlaza["mint"]>[0]);

for (const database of databaseKinds) {
  describe(`the matrix caller × operation (${database})`, () => {
    const open = () => openFullPlaza({ database });

    async function expectNothingChanged(act: (plaza: TestPlaza) => Promise<void>): Promise<void> {
      const plaza = await open();
      const before = await exportWorld(plaza.world, plaza.registry, { secrets: true });
      delete before.tokens;
      await act(plaza);
      const after = await exportWorld(plaza.world, plaza.registry, { secrets: true });
      delete after.tokens;
      expect(after).toEqual(before);
    }

    test("invalid tokens of every kind are refused by every operation", () =>
      expectNothingChanged(async (plaza) => {
        for (const endpoint of endpointsOf(plaza)) {
          for (const kind of endpoint.access.policy.kinds) {
            expectRefusal(endpoint, `expired ${kind}`, await requestWith(plaza, endpoint, await mint(plaza, kind, { expires_at: 1_700_000_000 })));
            expectRefusal(endpoint, `revoked ${kind}`, await requestWith(plaza, endpoint, await mint(plaza, kind, { revoked_at: 1_700_000_000 })));
          }
          expectRefusal(endpoint, "unknown", await requestWith(plaza, endpoint, "nobody-knows-it"));
        }
      }));

    test("tokens of a kind that an operation does not accept are refused", () =>
      expectNothingChanged(async (plaza) => {
        for (const endpoint of endpointsOf(plaza)) {
          const { kinds } = endpoint.access.policy;
          for (const kind of tokenKinds.filter((one) => !kinds.includes(one))) {
            expectRefusal(endpoint, `a ${kind} token`, await requestWith(plaza, endpoint, await mint(plaza, kind, {})));
          }
        }
      }));

    test("tokens without the permissions of an operation are refused with code 10", () =>
      expectNothingChanged(async (plaza) => {
        for (const endpoint of endpointsOf(plaza)) {
          const { kinds, scopes } = endpoint.access.policy;
          for (const kind of kinds) {
            for (const missing of scopes) {
              const response = await requestWith(
                plaza,
                endpoint,
                await mint(plaza, kind, { scopes: READ_SCOPES.filter((scope) => scope !== missing) }),
              );
              expectRefusal(endpoint, `a ${kind} token without ${missing}`, response);
            }
          }
        }
      }));

    test("D-11: a token whose data access has ended reads nothing of a person, in any operation; 0 is never", () =>
      expectNothingChanged(async (plaza) => {
        for (const endpoint of endpointsOf(plaza)) {
          const { access, nodeType, served } = endpoint;
          // The data of an app, of a token, or of the public map does not belong to a person.
          if ((served?.contract.method ?? "GET") !== "GET" || nodeType === undefined || nodeType === "app") continue;
          for (const kind of access.policy.kinds) {
            const read = async (data_access_expires_at: number) => {
              const response = await requestWith(plaza, endpoint, await mint(plaza, kind, { data_access_expires_at }));
              const { code, error_subcode } = errorOf(response);
              return { operation: access.operation, kind, status: response.status, code, error_subcode, isFlat: response.body.error === undefined };
            };
            const isFlat = access.errorForm === "flat";
            const expected = { operation: access.operation, kind, status: isFlat ? 403 : 401, code: 190, error_subcode: 463, isFlat };
            expect(await read(1_794_999_999)).toEqual(expected);
            const unlimited = await read(0);
            expect(unlimited.error_subcode).not.toBe(463);
            expect(unlimited).toEqual(await read(1_795_000_001));
          }
        }
      }));

    test("tokens of another app and another principal find nothing", () =>
      expectNothingChanged(async (plaza) => {
        for (const endpoint of endpointsOf(plaza)) {
          if (endpoint.nodeType === undefined) continue;
          for (const kind of endpoint.access.policy.kinds) {
            const token = await mint(plaza, kind, { app: nodeId("1002"), ...principal(kind, stranger) });
            expectRefusal(endpoint, `a stranger's ${kind} token`, await requestWith(plaza, endpoint, token));
          }
        }
      }));
  });
}
