/** What features define is defined once: two of one name, and the server does not start. */
import type { Feature } from "./feature.ts";

/** The names that a feature takes, by what they name. Addresses are claimed in the registry, webhook fields in their catalogue. */
const namesTaken: Readonly<Record<string, (feature: Feature) => readonly string[]>> = {
  "node type": ({ nodeTypes = [] }) => nodeTypes.map(({ type }) => type),
  operation: ({ nodeTypes = [], operations = [] }) => [
    ...nodeTypes.flatMap(({ reading }) => (reading === undefined ? [] : [reading.operation])),
    ...operations.map(({ contract }) => contract.operation),
  ],
  policy: ({ policies = [] }) => policies.map(({ name }) => name),
  error: ({ errors = [] }) => errors.map(({ name }) => name),
  setting: ({ settings = [] }) => settings.map(({ name }) => name),
  "world section": ({ worldSections = [] }) => worldSections.map(({ key }) => key),
  job: ({ jobs = [] }) => jobs.map(({ kind }) => kind),
};

export function refuseDuplicates(features: readonly Feature[]): void {
  const seen = new Set<string>();
  for (const { name } of features) {
    if (seen.has(name)) throw new Error(`two features have the name ${name}`);
    seen.add(name);
  }
  for (const [what, namesOf] of Object.entries(namesTaken)) {
    const holders = new Map<string, string>();
    for (const feature of features) {
      for (const name of namesOf(feature)) {
        const holder = holders.get(name);
        if (holder === feature.name) throw new Error(`${holder} defines the ${what} ${name} twice`);
        if (holder !== undefined) throw new Error(`${holder} and ${feature.name} both define the ${what} ${name}`);
        holders.set(name, feature.name);
      }
    }
  }
}
