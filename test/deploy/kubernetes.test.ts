/** D-354: checks that the manifests of deploy/kubernetes fit the program and each other. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { program } from "#cli/program";
import { readConfig } from "#config/read-config";
import { settings } from "#features";

const DEPLOY = join(import.meta.dir, "../../deploy/kubernetes");
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any manifest.
const manifests = (file: string): any[] => parseAllDocuments(readFileSync(join(DEPLOY, file), "utf8")).map((document) => document.toJS());

const [secret] = manifests("secret.example.yaml");
const [job] = manifests("migrate.yaml");
const [deployment, ...others] = manifests("plaza.yaml");
const pods = [job.spec.template.spec, deployment.spec.template.spec];

/** The environment that the program gets. The keys of the Kubernetes secret become the names of its files. */
function environmentOf(container: { env: { name: string; value: string }[]; volumeMounts: { name: string; mountPath: string }[] }) {
  const folder = container.volumeMounts.find(({ name }) => name === "secrets")?.mountPath;
  const values = container.env.map(({ name, value }) => {
    if (!name.endsWith("_FILE")) return [name, value];
    const key = value.slice(`${folder}/`.length);
    expect(Object.keys(secret.stringData)).toContain(key);
    return [name.replace(/_FILE$/, ""), key === "data" ? secret.stringData.data : "ab".repeat(32)];
  });
  return Object.fromEntries(values) as Record<string, string>;
}

test("both containers have options that the program knows, and every secret by a file", () => {
  for (const { containers, volumes } of pods) {
    const [container] = containers;
    expect(container.env.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["PLAZA_DATA_FILE", "PLAZA_CONTROL_KEY_FILE", "PLAZA_SECRET_KEY_FILE"]),
    );
    expect(readConfig({}, environmentOf(container), undefined, settings)).toMatchObject({
      sandbox: false,
      data: expect.stringMatching(/^postgres:/),
    });
    expect(volumes.find(({ name }: { name: string }) => name === "secrets").secret.secretName).toBe(secret.metadata.name);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
  }
  const [migrating, serving] = pods.map(({ containers }) => containers[0]);
  expect(migrating.image).toBe(serving.image);
  expect(serving.args.every((name: string) => program({ settings }).commands.some((command) => command.name() === name))).toBe(true);
});

test("it is killed only after its drain and the time of running requests, and probed where it serves its health", () => {
  const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
  const [container] = containers;
  const config = readConfig({}, environmentOf(container), undefined, settings);
  expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(config.drain_delay_ms + 10_000);
  const { periodSeconds, failureThreshold, httpGet } = container.readinessProbe;
  // Kubernetes removes the pod from the service's endpoints only after this number of failed checks.
  expect(config.drain_delay_ms).toBeGreaterThan(periodSeconds * failureThreshold * 1_000);
  expect([httpGet.path, container.startupProbe.httpGet.path, container.livenessProbe.httpGet.path]).toEqual(["/readyz", "/readyz", "/healthz"]);
  expect(config.health).toBe(true);
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]));
  expect(ports).toEqual({ graph: config.port, control: config.control_port });
  expect(httpGet.port).toBe("graph");
});

test("services and the disruption budget select the pods, and leave one of them running", () => {
  const { labels } = deployment.spec.template.metadata;
  expect(labels).toEqual(deployment.spec.selector.matchLabels);
  for (const { kind, spec } of others)
    expect({ kind, labels: kind === "Service" ? spec.selector : spec.selector.matchLabels }).toEqual({ kind, labels });
  expect(job.spec.template.metadata.labels).not.toEqual(labels);
  const budget = others.find(({ kind }) => kind === "PodDisruptionBudget");
  expect(deployment.spec.replicas).toBeGreaterThan(budget.spec.minAvailable);
  expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
});
