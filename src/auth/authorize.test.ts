import { describe, expect, test } from "bun:test";
import { GraphError, permissionMissing } from "#kernel/errors";
import { type Asking, authorize, seesNode } from "./authorize.ts";
import type { Policy } from "./policy.ts";

const askingOf = (...values: string[]): Asking[] =>
  values.map((value) => ({
    credential: { place: "bearer", value, token: { type: "page", app: "1", scopes: ["s"] } },
    question: { token: { type: "page", app: "1", scopes: ["s"], id: value }, app: { id: "1" } },
  })) as unknown as Asking[];

/** Answers each question from `answers`, in turn, and counts them. */
function policyOf(
  answers: (boolean | Promise<boolean> | (() => Promise<boolean>))[],
  refuses?: Policy["refuses"],
): { policy: Policy; asked(): number } {
  let at = 0;
  const sees = () => {
    const answer = answers[at++] as boolean | Promise<boolean> | (() => Promise<boolean>);
    return typeof answer === "function" ? answer() : answer;
  };
  return { policy: { summary: "", kinds: ["page"], scopes: ["s"], sees, ...(refuses === undefined ? {} : { refuses }) }, asked: () => at };
}

const outage = () => Promise.reject(new Error("the store is away"));

describe("a policy that has to look", () => {
  test("is asked once for each token, and what it answers later counts", async () => {
    const sight = policyOf([false, Promise.resolve(false), true]);
    expect(await seesNode(sight.policy, askingOf("a", "b", "c"))).toBe(true);
    expect(sight.asked()).toBe(3);
    const first = policyOf([Promise.resolve(true), false]);
    expect(await seesNode(first.policy, askingOf("a", "b"))).toBe(true);
    expect(first.asked()).toBe(1);
    const all = policyOf([true, Promise.resolve(true), true]);
    expect(await authorize(all.policy, askingOf("a", "b", "c"))).toBeUndefined();
    expect(all.asked()).toBe(3);
    const unseen = policyOf([Promise.resolve(true), Promise.resolve(false)]);
    expect(authorize(unseen.policy, askingOf("a", "b"))).rejects.toBeInstanceOf(GraphError);
  });

  test("and cannot look makes the call fail, once, and leaves no failure behind", async () => {
    const sight = policyOf([outage]);
    expect(Promise.resolve(seesNode(sight.policy, askingOf("a")))).rejects.toThrow("the store is away");
    expect(sight.asked()).toBe(1);
    const all = policyOf([true, outage]);
    expect(Promise.resolve(authorize(all.policy, askingOf("a", "b")))).rejects.toThrow("the store is away");
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
    expect(() => authorize(policyOf([true], refusing(false)).policy, askingOf("a"))).toThrow(GraphError);
    expect(Promise.resolve(authorize(policyOf([true], refusing(true)).policy, askingOf("a")))).rejects.toBeInstanceOf(GraphError);
    expect(Promise.resolve(authorize(policyOf([Promise.resolve(true)], refusing(true)).policy, askingOf("a")))).rejects.toBeInstanceOf(GraphError);
    await Bun.sleep(1);
    expect(refusals).toBe(3);
  });
});
