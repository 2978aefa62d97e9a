/** The rights to see and use a page, and the webhooks of a page (D-13, D-131, D-135). */
import { objectShape, type Shape } from "../fields.ts";
import type { Page, Token } from "../nodes.ts";
import { emit, pageOf, type World } from "../world.ts";

const personOf = (token: Token): string | undefined => (token.type === "user" || token.type === "system_user" ? token.user : undefined);

export const tasksOn = (page: Page, token: Token): readonly string[] | undefined => page.roles.find(({ user }) => user === personOf(token))?.tasks;

/** Whether a token may see the page: a token of the page, or of a person with any role on the page. */
export const seesPage = (page: Page, token: Token): boolean => (token.type === "page" ? token.page === page.id : tasksOn(page, token) !== undefined);

function mayMessage(world: World, token: Token, node: string): boolean {
  const page = pageOf(world, node);
  return page !== undefined && (token.type === "page" || tasksOn(page, token)?.includes("MESSAGING") === true);
}

/** D-92: the fields of the page inside a label or persona. */
export const pageShape: Shape = { ...objectShape("id", "name"), always: ["id"] };

export const shownPage = (world: World, page: string): { id: string; name: string } => {
  const { id, name } = world.pages.get(page) as Page;
  return { id, name };
};

export const PAGE_MESSAGING = {
  surfaces: ["base"],
  form: "flat",
  scheme: "three",
  kinds: ["page", "user", "system_user"],
  scopes: ["pages_messaging"],
  hasTask: mayMessage,
} as const;

/** D-131: emits a webhook to every app that is subscribed to the field, both on the page and for itself. */
export function emitOfPage(world: World, page: string, field: string, value: unknown): void {
  for (const app of world.apps.keys()) {
    emit(world, { app, object: "page", entity: page, field, value }, () => {
      const own = world.subscriptions.get(app)?.get("page");
      const isWanted = world.pages.get(page)?.subscribed_apps.get(app)?.includes(field) === true && own?.fields.has(field) === true;
      return isWanted ? own.callback : undefined;
    });
  }
}
