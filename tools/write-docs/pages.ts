/** The pages that are written from the program's error catalogue, contracts, policies and options. */
import { features } from "#features";
import { Registry } from "#graph/contract/registry";
import { commandsPage } from "./commands-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { controlApiPage } from "./control-api-page.ts";
import { errorsPage } from "./errors-page.ts";
import { fidelityPage, readEvidence } from "./fidelity-page.ts";
import { operationsPage } from "./operations-page.ts";
import { permissionsPage } from "./permissions-page.ts";
import { webhookFieldsPage } from "./webhook-fields-page.ts";
import { worldFilesPage } from "./world-files-page.ts";

/** The function that writes each page, by the path of the page. */
export const pages: Readonly<Record<string, () => string>> = {
  "docs/reference/commands.md": commandsPage,
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/control-api.md": controlApiPage,
  "docs/reference/errors.md": () => errorsPage(new Registry(features)),
  "docs/reference/operations.md": () => operationsPage(features),
  "docs/reference/permissions.md": () => permissionsPage(features),
  "docs/reference/webhook-fields.md": () => webhookFieldsPage(new Registry(features)),
  "docs/reference/world-files.md": () => worldFilesPage(features),
  "spec/fidelity.md": () => fidelityPage(features, readEvidence()),
};
