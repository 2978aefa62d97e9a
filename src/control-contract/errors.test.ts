/** Tests the errors by which the control API reports failures of other layers. */
import { expect, test } from "bun:test";
import { TakenProblem, WorldProblem } from "#graph/worlds/file/schema-words";
import { WorldFileProblem } from "#graph/worlds/file/text";
import { databaseUnreachable, internalError, invalidParameter } from "#kernel/errors";
import { controlErrorOf, notFound } from "./errors.ts";

const missing = notFound("world x");

test.each([
  ["an error of the API itself", missing, { code: "not_found", message: "there is no world x" }],
  ["a world file that cannot be read", new WorldFileProblem("is empty", "users[0]", undefined), { code: "unprocessable", parameter: "users[0]" }],
  ["a world file as a whole", new WorldFileProblem("is empty", "", undefined), { code: "unprocessable", parameter: undefined }],
  ["a value that is taken", new TakenProblem("id", "is taken"), { code: "conflict", parameter: "id" }],
  ["a wrong value", new WorldProblem("id", "is no id"), { code: "bad_request", parameter: "id" }],
  ["a wrong entry as a whole", new WorldProblem("", "must be a map"), { code: "bad_request", parameter: undefined }],
  ["a refusal of the graph", invalidParameter("name", "is taken"), { code: "unprocessable", parameter: "name" }],
  ["a database that cannot be reached", databaseUnreachable(), { code: "unavailable", message: "the database cannot be reached" }],
] as const)("%s", (_what, error, expected) => {
  expect(controlErrorOf(error)).toMatchObject(expected);
});

test("a failure of the graph, or any other one, is not the caller's mistake", () => {
  for (const error of [internalError(), new Error("broken"), "broken"]) expect(controlErrorOf(error)).toBeUndefined();
});
