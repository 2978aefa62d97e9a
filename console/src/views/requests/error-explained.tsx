import { useQuery } from "@tanstack/react-query";
import { errorsQuery } from "../../api/queries.ts";
import { Block, Facts } from "../../parts/texts.tsx";
import type { StoriedRequest } from "./request-detail.tsx";

interface GraphErrorBody {
  readonly message?: string;
  readonly code?: number;
  readonly error_subcode?: number;
  readonly error_user_msg?: string;
  readonly error_data?: { readonly parameter?: string };
}

/** Both forms: flat, and below `error`. */
function errorIn(text: string): GraphErrorBody | undefined {
  try {
    const body = JSON.parse(text) as GraphErrorBody & { readonly error?: GraphErrorBody };
    return typeof body.error === "object" ? body.error : body;
  } catch {
    return undefined;
  }
}

/** What the response says, and what the catalogue says about it. */
export function ErrorExplained({ request: { status, response_body, story } }: { readonly request: StoriedRequest }) {
  const catalogue = useQuery(errorsQuery).data?.data;
  const said = errorIn(response_body);
  const isSame = (entry: NonNullable<typeof catalogue>[number]): boolean =>
    story?.error !== undefined
      ? entry.name === story.error
      : [entry.code, entry.flat_code].includes(said?.code) &&
        entry.subcode === said?.error_subcode &&
        [entry.status, entry.flat_status].includes(status);
  // An error that was asked for by its status has no cause that the catalogue knows.
  const entries = story?.fault !== undefined && story.error === "internalError" ? [] : (catalogue?.filter(isSame) ?? []);
  return (
    <Block title="Refused">
      {said?.message !== undefined && <p className="bad">✕ {said.message}</p>}
      {said?.error_user_msg !== undefined && <p>{said.error_user_msg}</p>}
      <Facts
        facts={[
          ["Parameter", said?.error_data?.parameter],
          ["Code", said?.code === undefined ? undefined : [said.code, said.error_subcode].filter((part) => part !== undefined).join(" / ")],
          ["In the catalogue", entries.length === 0 ? undefined : entries.map(({ name }) => name).join(" or ")],
          ["It happens when", entries.length === 0 ? undefined : entries.map(({ when }) => when.replaceAll("`", "")).join("; or ")],
          [
            "Again",
            entries.length === 0
              ? undefined
              : entries.some(({ is_transient }) => is_transient)
                ? "the same request may succeed later"
                : "the same request fails again",
          ],
        ]}
      />
    </Block>
  );
}
