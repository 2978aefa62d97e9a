import { describe, expect, test } from "bun:test";
import { GraphError, permissionMissing } from "#kernel/errors";
import { type AuthorizationCheck, authorize, canSeeNode } from "./authorize.ts";
import type { Policy } from "./policy.ts";

const authorizationCheck = (...values: string[]): AuthorizationCheck[] =>
  values.map((value) => ({
    credential: { place: "bearer", value, token: { type: "page", app: "1", scopes: ["s"] } },
    input: { token: { type: "page", app: "1", scopes: ["s"], id: value }, app: { id: "1" } },
  })) as unknown as AuthorizationCheck[];

/** Answers each question from `answers`, in turn, and counts them. */
function policyOf(responses: (boolean | Promise<boolean> | (() => Promise<boolean>))[], deny?: Policy["deny"]): { policy: Policy; asked(): number } {
  let at = 0;
  const canSee = () => {
    const response = responses[at++] as boolean | Promise<boolean> | (() => Promise<boolean>);
    return typeof response === "function" ? response() : response;
  };
  return { policy: { name: "asked", summary: "", kinds: ["page"], scopes: ["s"], canSee, ...(deny === undefined ? {} : { deny }) }, asked: () => at };
}

const outage = () => Promise.reject(new Error("the store is away"));

describe("a policy that has to look", () => {
  test("is asked once for each token, and what it answers later counts", async () => {
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

  test("and cannot look makes the request fail, once, and leaves no failure behind", async () => {
    const sight = policyOf([outage]);
    await expect(Promise.resolve(canSeeNode(sight.policy, authorizationCheck("a")))).rejects.toThrow("the store is away");
    expect(sight.asked()).toBe(1);
    const all = policyOf([true, outage]);
    await expect(Promise.resolve(authorize(all.policy, authorizationCheck("a", "b")))).rejects.toThrow("the store is away");
    expect(all.asked()).toBe(2);
    // A promise that nobody waits for would surface by now.
    await Bun.sleep(1);
  });

  test("refuses once, whether it knows at once or later", async () => {
    let refusals = 0;
    const refusing = (later: boolean) => () => {
      refusals++;
      return later ? Promise.resolve(permissionMissing(["x"])) : permissionMissing(["x"]);
    };
    expect(() => authorize(policyOf([true], refusing(false)).policy, authorizationCheck("a"))).toThrow(GraphError);
    await expect(Promise.resolve(authorize(policyOf([true], refusing(true)).policy, authorizationCheck("a")))).rejects.toBeInstanceOf(GraphError);
    await expect(
      Promise.resolve(authorize(policyOf([Promise.resolve(true)], refusing(true)).policy, authorizationCheck("a"))),
    ).rejects.toBeInstanceOf(GraphError);
    await Bun.sleep(1);
    expect(refusals).toBe(3);
  });
});
