/** Makes requests to worlds that have the same ids, and differ in one label. */
import type { OwnServer } from "./own-server.ts";

export const worldOf = (name: string) => ({
  apps: [{ id: "1001", name: `Shop of ${name}`, secret: "s3cret" }],
  pages: [{ id: "2001", name: `Page of ${name}` }],
  labels: ["5001", "5002", "5003"].map((id) => ({ id, page: "2001", name: `${id} of ${name}` })),
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] }],
});

/** The same world file, with a callback that gets a webhook for each change of labels. */
export const subscribed = (name: string, url: string) => {
  const { apps, pages, ...rest } = worldOf(name);
  const subscriptions = [{ object: "page", fields: ["custom_labels"] }];
  return {
    ...rest,
    apps: apps.map((app) => ({ ...app, callback: { url, verified: true }, subscriptions })),
    pages: pages.map((page) => ({ ...page, subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] })),
  };
};

export const makeWorld = ({ control }: OwnServer, name: string, file: unknown = worldOf(name)) => control("POST", "worlds", { name, file });

export const addressOf = ({ baseUrl }: OwnServer, name: string): string => (name === "default" ? baseUrl : `${baseUrl}/w/${name}`);

const CREDENTIALS = "access_token=page-token&oauth_token=page-token";
const AUTHORIZATION = "Bearer page-token";

export interface Labels {
  readonly status: number;
  readonly names: string[];
  readonly next: string | undefined;
}

/** Lists the labels of a page. `baseUrl` is the URL of a world, or a link to a page of its list. */
export async function listLabels(baseUrl: string, query = "", headers: Record<string, string> = {}): Promise<Labels> {
  const url = baseUrl.includes("?") ? baseUrl : `${baseUrl}/v26.0/2001/custom_labels?fields=name&${CREDENTIALS}${query}`;
  const response = await fetch(url, { headers: { authorization: AUTHORIZATION, ...headers } });
  const { data = [], paging } = (await response.json()) as { data?: { name: string }[]; paging?: { next?: string } };
  return { status: response.status, names: data.map(({ name }) => name), next: paging?.next };
}

export async function createLabel(baseUrl: string, name: string): Promise<number> {
  const body = new URLSearchParams({ page_label_name: name });
  return (await fetch(`${baseUrl}/v26.0/2001/custom_labels?${CREDENTIALS}`, { method: "POST", body, headers: { authorization: AUTHORIZATION } }))
    .status;
}
