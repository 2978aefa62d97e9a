import { expect, test } from "bun:test";
import { reviewPage, reviewText } from "./report.ts";
import type { Needed, Review } from "./review.ts";

const needed = (name: string): Needed => ({
  permission: { kind: "scope", name },
  operations: ["createLabel"],
  tests: ["a label"],
  problem: "it ended with 1",
});
const reviewWith = (...names: readonly string[]): Review => ({ needed: names.map(needed), unused: [], operations: new Map(), runs: 4 });

test("the proof names the number of needed permissions, in the text and on the page", () => {
  const proofs = [reviewWith(), reviewWith("pages_messaging"), reviewWith("pages_messaging", "pages_manage_posts")].map((review) => {
    const proof = reviewText(review).split("\n").at(-1)?.replace("The suite ran 4 times. ", "") ?? "";
    expect(reviewPage(review, "npm test")).toContain(`ran 4 times, each time in worlds of its own. ${proof}</p>`);
    return proof;
  });
  expect(proofs).toEqual([
    "The suite passes without any permission.",
    "The suite passes with the needed permission, and fails without it.",
    "The suite passes with the 2 needed permissions, and fails without any one of them.",
  ]);
});
