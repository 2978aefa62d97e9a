/** The nodes that webhooks can be about. */
import { listNodes } from "../../api/graph/nodes.ts";
import { nameOf } from "../../parts/named.tsx";

/** The kind of node that each object of webhooks is about. */
const SECTIONS: Readonly<Record<string, string>> = {
  page: "pages",
  social: "social_accounts",
  chatapp_business_account: "chatapp_accounts",
  catalog: "catalogs",
};

export const kindOf = (object: string): string => SECTIONS[object] ?? "pages";

export async function entitiesOf(w: string, object: string): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const { data } = await listNodes(w, kindOf(object), undefined);
  return data.map((entry) => ({ id: String(entry.id), name: nameOf(entry) }));
}
