/** The recommended rules of Redocly and of Spectral. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import { asyncapi, oas } from "@stoplight/spectral-rulesets";

/** Of an OpenAPI document. */
export const problemsOf = (document: object): Promise<string[]> => lint(document, oas);

/** Without the rule that wants an address and a mailbox of the contact: the project has neither. The rules for OpenAPI do not want them. */
const withoutMailbox = { extends: asyncapi, rules: { "asyncapi-info-contact-properties": "off" } };

export const asyncapiProblemsOf = (document: object): Promise<string[]> => lint(document, withoutMailbox);

async function lint(document: object, rules: unknown): Promise<string[]> {
  const source = JSON.stringify(document);
  const redocly = await lintFromString({ source, config: await createConfig({ extends: ["recommended"] }) });
  const spectral = new Spectral();
  spectral.setRuleset(rules as never);
  const found = await spectral.run(JSON.parse(source));
  return [
    ...redocly.map(({ ruleId, severity, message, location }) => `redocly ${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`),
    ...found.map(({ code, message, path }) => `spectral ${code}: ${message} at ${path.join("/")}`),
  ];
}
