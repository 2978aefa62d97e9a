import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { variableWarnings } from "./read-config.ts";
import { environmentWithSecrets, FILE_VARIABLES } from "./secret-files.ts";

function fileWith(text: string): string {
  const file = join(temporaryFolder(), "secret");
  writeFileSync(file, text);
  return file;
}

test("D-352: every secret, and the address of the data, can be in a file, without the line ends at its end", () => {
  expect(FILE_VARIABLES).toEqual(
    ["data", "databases", "recordings", "control_key", "sign_in_key", "secret_key", "further_secret_keys"].map(
      (name) => `PLAZA_${name.toUpperCase()}_FILE`,
    ),
  );
  for (const name of FILE_VARIABLES) {
    const variable = name.replace(/_FILE$/, "");
    for (const text of ["a b", " a\n", "a\r\n\n", "a\nb"]) {
      const given = { [name]: fileWith(text), OTHER: "1" };
      expect(environmentWithSecrets(given)).toEqual({ ...given, [variable]: text.replace(/[\r\n]+$/, "") });
    }
  }
  expect(environmentWithSecrets({ PLAZA_CONTROL_KEY: "k", PLAZA_CONTROL_KEY_FILE: "" })).toMatchObject({ PLAZA_CONTROL_KEY: "k" });
  expect(variableWarnings(Object.fromEntries(FILE_VARIABLES.map((name) => [name, "x"])), [])).toEqual([]);
});

test("D-352: a secret that is given twice, and a file without one secret, are refused", () => {
  const problemOf = (given: Record<string, string>): string => {
    try {
      environmentWithSecrets(given);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };
  expect(problemOf({ PLAZA_CONTROL_KEY: "k", PLAZA_CONTROL_KEY_FILE: fileWith("k") })).toBe(
    "PLAZA_CONTROL_KEY_FILE: cannot be set together with PLAZA_CONTROL_KEY; remove one of them",
  );
  expect(problemOf({ PLAZA_SECRET_KEY_FILE: "/nowhere/key" })).toStartWith("PLAZA_SECRET_KEY_FILE: /nowhere/key cannot be read: ENOENT");
  expect(problemOf({ PLAZA_SECRET_KEY_FILE: fileWith("\n") })).toEndWith("is empty; write the secret into it");
  expect(problemOf({ PLAZA_SECRET_KEY_FILE: "/dev/zero" })).toBe(
    "PLAZA_SECRET_KEY_FILE: /dev/zero has more than 65536 bytes; name a file that holds only the secret",
  );
  expect(problemOf({ PLAZA_DATA_FILE: fileWith("a".repeat(65_536)) })).toBe("");
});
