/** The recommended rules of Redocly and of Spectral on a document. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";

export async function problemsOf(document: object): Promise<string[]> {
  const source = JSON.stringify(document);
  const redocly = await lintFromString({ source, config: await createConfig({ extends: ["recommended"] }) });
  const spectral = new Spectral();
  spectral.setRuleset(oas as never);
  const found = await spectral.run(JSON.parse(source));
  return [
    ...redocly.map(({ ruleId, severity, message, location }) => `redocly ${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`),
    ...found.map(({ code, message, path }) => `spectral ${code}: ${message} at ${path.join("/")}`),
  ];
}
