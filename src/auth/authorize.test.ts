import { describe, expect, test } from "bun:test";
import { GraphError, permissionMissing, taskMissing } from "#kernel/errors";
import { type NodeId, nodeId } from "#kernel/ids";
import { type AuthorizationCheck, authorize, canSeeNode, authorizationCheck as checkOf, fieldRefusal } from "./authorize.ts";
import { onPage } from "./page-policies.ts";
import { appTokenAlone, ownApp, type Policy, type PolicyInput } from "./policy.ts";
import type { NodeRef, Token } from "./token.ts";

const authorizationCheck = (...values: string[]): AuthorizationCheck[] =>
  values.map((value) => ({
    credential: { place: "bearer", value, token: { type: "page", app: "1", scopes: ["s"] } },
    input: { token: { type: "page", app: "1", scopes: ["s"], id: value }, app: { id: "1" } },
  })) as unknown as AuthorizationCheck[];

/** A policy that returns one response after the other and counts its calls. */
function policyOf(responses: (boolean | Promise<boolean> | (() => Promise<boolean>))[], deny?: Policy["deny"]): { policy: Policy; asked(): number } {
  let at = 0;
  const canSee = () => {
    const response = responses[at++] as boolean | Promise<boolean> | (() => Promise<boolean>);
    return typeof response === "function" ? response() : response;
  };
  return { policy: { name: "asked", summary: "", kinds: ["page"], scopes: ["s"], canSee, ...(deny === undefined ? {} : { deny }) }, asked: () => at };
}

const outage = () => Promise.reject(new Error("the store is away"));

describe("a policy that reads the database", () => {
  test("is asked once for each token, even if it answers late", async () => {
    const sight = policyOf([false, Promise.resolve(false), true]);
    expect(await canSeeNode(sight.policy, authorizationCheck("a", "b", "c"))).toBe(true);
    expect(sight.asked()).toBe(3);
    const first = policyOf([Promise.resolve(true), false]);
    expect(await canSeeNode(first.policy, authorizationCheck("a", "b"))).toBe(true);
    expect(first.asked()).toBe(1);
    const all = policyOf([true, Promise.resolve(true), true]);
    expect(await authorize(all.policy, authorizationCheck("a", "b", "c"))).toBeUndefined();
    expect(all.asked()).toBe(3);
    const unseen = policyOf([Promise.resolve(true), Promise.resolve(false)]);
    await expect(authorize(unseen.policy, authorizationCheck("a", "b"))).rejects.toBeInstanceOf(GraphError);
  });

  test("makes the request fail, once, if it cannot read", async () => {
    const sight = policyOf([outage]);
    await expect(canSeeNode(sight.policy, authorizationCheck("a"))).rejects.toThrow("the store is away");
    expect(sight.asked()).toBe(1);
    const all = policyOf([true, outage]);
    await expect(authorize(all.policy, authorizationCheck("a", "b"))).rejects.toThrow("the store is away");
    expect(all.asked()).toBe(2);
  });

  test("refuses once, whether it answers at once or later", async () => {
    let refusals = 0;
    const refusing = (later: boolean) => () => {
      refusals++;
      return later ? Promise.resolve(permissionMissing(["x"])) : permissionMissing(["x"]);
    };
    const refused = [policyOf([true], refusing(false)), policyOf([true], refusing(true)), policyOf([Promise.resolve(true)], refusing(true))];
    for (const { policy } of refused) await expect((async () => authorize(policy, authorizationCheck("a")))()).rejects.toBeInstanceOf(GraphError);
    expect(refusals).toBe(3);
  });
});

type Kind = "page" | "user" | "app";

/** Builds the input of `authorize` for tokens that a test describes by their type, app and scopes. */
const checkWith = (...tokens: readonly { type?: Kind; app?: string; scopes?: readonly string[]; place?: string }[]): AuthorizationCheck[] =>
  tokens.map(({ type = "page", app = "1", scopes = ["s"], place = "bearer" }, at) => ({
    credential: { place, value: String(at), token: { type, app, scopes } },
    input: { token: { type, app, scopes, id: String(at) }, app: { id: "1" } },
  })) as unknown as AuthorizationCheck[];

const seeing = (more: Partial<Policy> = {}): Policy => ({ name: "seeing", summary: "", kinds: ["page"], scopes: ["s"], canSee: () => true, ...more });
const refusalOf = async (policy: Policy, check: AuthorizationCheck[]): Promise<string> => {
  try {
    await authorize(policy, check);
  } catch (error) {
    return (error as Error).message;
  }
  return "none";
};

describe("each of several tokens", () => {
  const later: Policy["canSee"] = async () => true;

  test("must belong to the app, have an accepted kind and all scopes, in any order", async () => {
    for (const canSee of [() => true, later]) {
      const policy = seeing({ scopes: ["s", "t"], canSee });
      const good = { scopes: ["t", "s", "u"] };
      expect(await refusalOf(policy, checkWith(good, good))).toBe("none");
      for (const [bad, problem] of [
        [{ ...good, app: "2", place: "access_token" }, "access_token"],
        [{ ...good, type: "user" as const }, "the operation does not accept a token of type user"],
        [{ scopes: ["s"] }, permissionMissing(["t"]).message],
        [{ scopes: [] }, permissionMissing(["s", "t"]).message],
      ] as const) {
        expect(await refusalOf(policy, checkWith(good, bad))).toContain(problem);
        expect(await refusalOf(policy, checkWith(bad, good))).toContain(problem);
      }
    }
  });

  test("is refused first for its kind, then for a node that it cannot see, then for its scopes, then by the policy", async () => {
    const denied = permissionMissing(["denied"]);
    const worst = { type: "user" as const, scopes: [] };
    const unseen = seeing({ canSee: () => false, deny: () => denied });
    const [kind, sight, scopes, deny] = [
      await refusalOf(unseen, checkWith(worst)),
      await refusalOf(unseen, checkWith({ scopes: [] })),
      await refusalOf(seeing({ deny: () => denied }), checkWith({ scopes: [] })),
      await refusalOf(seeing({ deny: () => denied }), checkWith({})),
    ];
    expect(kind).toContain("does not accept a token of type user");
    expect(sight).toContain("not valid for the node in the address");
    expect([scopes, deny]).toEqual([permissionMissing(["s"]).message, denied.message]);
    // A policy that has to look something up decides in the same way as a policy that knows the answer at once.
    for (const canSee of [later, () => true])
      for (const deny of [() => denied, async () => denied]) {
        expect(await refusalOf(seeing({ canSee, deny }), checkWith({ scopes: [] }))).toBe(permissionMissing(["s"]).message);
        expect(await refusalOf(seeing({ canSee, deny }), checkWith({}))).toBe(denied.message);
      }
    expect(await refusalOf(seeing({ canSee: async () => false, deny: () => denied }), checkWith({ scopes: [] }))).toBe(sight);
  });

  test("may show that a node exists, if its kind is accepted and canSee agrees", async () => {
    const own = (token: string) => seeing({ canSee: ({ token: { id } }) => id === token });
    expect(await canSeeNode(own("1"), checkWith({}, {}))).toBe(true);
    expect(await canSeeNode(own("2"), checkWith({}, {}))).toBe(false);
    expect(await canSeeNode(own("1"), checkWith({}, { type: "user" }))).toBe(false);
    expect(await canSeeNode(seeing(), [])).toBe(false);
    expect(await canSeeNode(seeing({ canSee: async () => false }), checkWith({}, {}))).toBe(false);
  });
});

test("each distinct one of several tokens is checked once, in order", () => {
  const around = { reader: "r", ports: "p", facts: "f", profile: "strict" } as unknown as Parameters<typeof checkOf>[3];
  const credentials = ["a", "a", "b", "b"].map((value) => ({ place: "bearer", value, token: { id: value } })) as unknown as Parameters<
    typeof checkOf
  >[0];
  const [app, node] = [{ id: "1" }, { id: "9" }] as unknown as [Parameters<typeof checkOf>[1], NodeRef];
  const check = checkOf(credentials, app, node, around);
  expect(check.map(({ credential }) => credential)).toEqual([credentials[0], credentials[2]] as never);
  expect(check[1]?.input).toEqual({ token: credentials[2]?.token, app, node, ...around } as never);
});

describe("D-16: a field of its own policy", () => {
  const node = { id: "7" } as unknown as NodeRef;

  test("hides the value if one of the tokens cannot see it or is of another kind", async () => {
    const asked: unknown[] = [];
    const canSee: Policy["canSee"] = async (input) => {
      asked.push(input.node);
      return input.token.id === "0";
    };
    expect(await fieldRefusal(seeing({ canSee }), checkWith({}, {}), node)).toBe("unseen");
    expect(await fieldRefusal(seeing(), checkWith({}, { type: "user" }), node)).toBe("unseen");
    // The policy is checked on the node that has the field.
    expect(asked).toEqual([node, node]);
    expect(await fieldRefusal(seeing(), checkWith({}, {}), node)).toBeUndefined();
    expect(await fieldRefusal(seeing(), [], node)).toBeUndefined();
  });

  test("refuses for the first missing scope, or by the policy, even if a later token may read it", async () => {
    const denied = permissionMissing(["denied"]);
    const deny: Policy["deny"] = async ({ token }) => (token.id === "0" ? denied : undefined);
    expect(await fieldRefusal(seeing({ deny }), checkWith({}, {}), node)).toBe(denied);
    expect((await fieldRefusal(seeing({ deny }), checkWith({ scopes: [] }, {}), node)) as GraphError).toMatchObject({
      message: permissionMissing(["s"]).message,
    });
    expect(await fieldRefusal(seeing({ deny: () => undefined }), checkWith({}, { scopes: [] }), node)).toMatchObject({
      message: permissionMissing(["s"]).message,
    });
    // If a later token's owner may not know that the node exists, the field is left out, even if an earlier token was refused.
    expect(await fieldRefusal(seeing({ deny }), checkWith({}, { type: "user" }), node)).toBe("unseen");
  });
});

describe("who may act", () => {
  /** The input of a policy that records which roles are looked up. The fake ports of pages and of apps return the same roles. */
  function inputOf(token: Partial<Token>, roles?: readonly string[]) {
    const asked: string[] = [];
    const role = roles === undefined ? undefined : { tasks: roles, via_business: false };
    const ports = {
      get: (name: string) => ({
        findRole: async (_reader: unknown, page: string, user: string) => {
          asked.push(`${name} ${page} ${user}`);
          return role;
        },
        rolesOf: async (_reader: unknown, app: string, user: string) => {
          asked.push(`${name} ${app} ${user}`);
          return roles ?? [];
        },
      }),
    };
    const facts = () => ({ get: (_key: string, load: () => unknown) => load() });
    return { input: { token, node: { id: "1", owner: "2001" }, ports, facts } as unknown as PolicyInput, asked };
  }
  const responseOf = async (policy: Policy, token: Partial<Token>, roles?: readonly string[]) => {
    const { input, asked } = inputOf(token, roles);
    return { canSee: await policy.canSee(input), refusal: (await policy.deny?.(input))?.message, asked };
  };
  const [APP, PAGE, OTHER, ADA] = ["1", "2001", "2002", "3001"].map(nodeId) as [NodeId, NodeId, NodeId, NodeId];

  test("on a page: its own token, or a person with one of the tasks; any role shows that the page exists", async () => {
    const policy = onPage({ name: "p", summary: "", scopes: [], anyOf: ["MESSAGING", "ADVERTISE"] });
    const missing = taskMissing("the page task MESSAGING or ADVERTISE").message;
    // The check does not look at the owner of a page token, because the token is revoked when the owner's role ends.
    expect(await responseOf(policy, { type: "page", page: PAGE, user: ADA }, [])).toEqual({ canSee: true, refusal: undefined, asked: [] });
    expect(await responseOf(policy, { type: "page", page: OTHER, user: ADA }, ["MESSAGING"])).toMatchObject({ canSee: false, asked: [] });
    for (const type of ["user", "system_user"] as const) {
      const asked = ["page_role 2001 3001", "page_role 2001 3001"];
      expect(await responseOf(policy, { type, user: ADA }, ["ANALYZE", "ADVERTISE"])).toEqual({ canSee: true, refusal: undefined, asked });
      expect(await responseOf(policy, { type, user: ADA }, ["ANALYZE"])).toEqual({ canSee: true, refusal: missing, asked });
      expect(await responseOf(policy, { type, user: ADA })).toEqual({ canSee: false, refusal: missing, asked });
      expect(await responseOf(policy, { type, user: undefined }, ["MESSAGING"])).toEqual({ canSee: false, refusal: undefined, asked: [] });
    }
  });

  test("on an app: its own token, or one of its administrators and developers", async () => {
    const missing = taskMissing("the role administrator or developer on the app").message;
    expect(await responseOf(ownApp, { type: "app", app: APP, user: ADA }, [])).toEqual({ canSee: true, refusal: undefined, asked: [] });
    expect(await responseOf(ownApp, { type: "user", app: OTHER }, [])).toEqual({ canSee: false, refusal: undefined, asked: [] });
    for (const [roles, refusal] of [
      [["tester", "administrator"], undefined],
      [["developer"], undefined],
      [["tester"], missing],
      [[], missing],
    ] as const)
      expect(await responseOf(ownApp, { type: "user", app: APP, user: ADA }, roles)).toEqual({ canSee: true, refusal, asked: ["app 1 3001"] });
    expect(await responseOf(appTokenAlone("own"), { type: "app", app: APP })).toMatchObject({ canSee: true, refusal: undefined });
    expect(await responseOf(appTokenAlone("own"), { type: "app", app: OTHER })).toMatchObject({ canSee: false });
    expect(appTokenAlone("own").kinds).toEqual(["app"]);
  });
});
