/** D-354: checks the manifests of deploy/kubernetes by the schemas of Kubernetes, without a cluster and without a network. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { installed } from "../client-libraries/libraries.ts";

const DEPLOY = join(import.meta.dir, "../../deploy/kubernetes");
/** The oldest version of Kubernetes that is still maintained, and the newest version that the tool knows. */
const VERSIONS = ["1.35", "1.37"];

const folder = await installed(join(import.meta.dir, "kubernetes-validate"), ["requirements.txt"], (into) => [
  ...["python3", "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--only-binary=:all:", "--require-hashes"],
  ...["--target", join(into, "packages"), "--requirement", join(into, "requirements.txt")],
]);

function validate(version: string, files: readonly string[]): { readonly isValid: boolean; readonly output: string } {
  const packages = join(folder, "packages");
  const command = ["python3", join(packages, "bin/kubernetes-validate"), "--strict", "-k", version, ...files];
  const { success, stdout, stderr } = Bun.spawnSync(command, { env: { ...process.env, PYTHONPATH: packages }, stdin: "ignore" });
  return { isValid: success, output: `${stdout}${stderr}` };
}

const files = readdirSync(DEPLOY).filter((name) => name.endsWith(".yaml"));

test.each(VERSIONS)("every manifest fits the schemas of Kubernetes %s", (version) => {
  const { isValid, output } = validate(
    version,
    files.map((name) => join(DEPLOY, name)),
  );
  expect({ isValid, output }).toMatchObject({ isValid: true });
  expect(output.match(/ passed for resource (?:job|deployment|service|poddisruptionbudget|secret)\//g)).toHaveLength(6);
});

test("a key that Kubernetes does not know is found", () => {
  const file = join(temporaryFolder(), "plaza.yaml");
  writeFileSync(file, readFileSync(join(DEPLOY, "plaza.yaml"), "utf8").replace("terminationGracePeriodSeconds", "terminationGracePeriod"));
  expect(validate("1.37", [file])).toMatchObject({ isValid: false, output: expect.stringContaining("terminationGracePeriod") });
});
