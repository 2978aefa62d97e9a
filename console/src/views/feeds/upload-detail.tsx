import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Block, Empty, Facts, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { uploadQuery } from "./uploads.ts";

const SIGNS: Readonly<Record<string, readonly [className: string, sign: string]>> = {
  done: ["good", "✓"],
  failed: ["bad", "✕"],
};

export function UploadStatus({ status }: { readonly status: string }) {
  const [className, sign] = SIGNS[status] ?? ["live", "…"];
  return (
    <span className={className}>
      <span aria-hidden="true">{sign}</span> {status}
    </span>
  );
}

/** The report of an upload, row by row. */
export function UploadDetail({ feed, n }: { readonly feed: string; readonly n: number }) {
  const w = useWorld();
  const client = useQueryClient();
  const { data, error } = useQuery(uploadQuery(w, feed, n));
  const status = data?.status;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it came to shows in the list and in the feed, too.
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ["uploads", w, feed], exact: true });
    void client.invalidateQueries({ queryKey: ["nodes", w] });
  }, [status]);
  if (error !== null) return <Empty title={error.message} />;
  if (data === undefined) return <p className="block quiet">… running</p>;
  const { source, file_name, url, format, bytes, rows, items, items_added, items_replaced, items_removed, bad_rows, duplicates, problem, errors } =
    data;
  return (
    <>
      <Block title={file_name ?? url ?? `From a ${source}`}>
        <Facts
          facts={[
            ["Status", <UploadStatus key="status" status={data.status} />],
            ["Problem", problem],
            ["Started", <WorldTime key="time" seconds={data.created_time} isLong />],
            ["Format", format],
            ["Size", `${bytes.toLocaleString("en")} bytes`],
            ["Only adds items", data.update_only === true ? "yes: items that are not in the file stay" : undefined],
            ["Rows", rows],
            ["Items", `${items}: ${items_added} new, ${items_replaced} replaced, ${items_removed} removed`],
            ["Bad rows", bad_rows],
            ["Duplicates", duplicates],
          ]}
        />
      </Block>
      <Block title="Reported rows">
        {errors.length === 0 ? (
          <p className="good">✓ None.</p>
        ) : (
          <table className="plain-table">
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Item</th>
                <th scope="col">Field</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {errors.map(({ severity, line, retailer_id, field, reason }) => (
                <tr key={`${line} ${field} ${reason}`}>
                  <td>{line}</td>
                  <td className="mono">{retailer_id ?? ""}</td>
                  <td className="mono">{field ?? ""}</td>
                  <td className={severity === "warning" ? "warn" : "bad"}>
                    {severity === "warning" ? "!" : "✕"} {reason}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Block>
    </>
  );
}
