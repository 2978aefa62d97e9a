/** D-147: uploads of feed files, and what is wrong with those files. */
import { type TSchema, Type } from "typebox";
import type { Policy } from "#auth/policy";
import { catalogFilling } from "#features/product-catalogs/api";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import { asked, having, webAddress } from "#graph/schema/asked";
import { utcText } from "#kernel/clock";
import { feedFormats } from "../formats/rows.ts";
import { uploadStatuses } from "../ingestion/upload-statuses.ts";
import type { UploadRow } from "../ingestion/uploads.store.ts";
import { itemFields } from "../product-feeds.items.ts";
import { FETCHED_URL_CHARACTERS_MAX, REQUEST_BYTES_MAX } from "../product-feeds.limits.ts";
import { productFeed } from "../product-feeds.policies.ts";
import { credentials } from "../schedules/parameters.ts";
import type { UploadErrorRow } from "./errors.ts";

const oneOf = (values: readonly string[]): TSchema => Type.Unsafe<string>({ enum: [...values] });
const orAbsent = (value: string | null): string | undefined => value ?? undefined;

export function uploadSet(policy: Policy): FieldSet<UploadRow> {
  const plain = (schema: TSchema): Field<UploadRow> => ({ schema, policy });
  const text = plain(Type.String());
  const count = plain(Type.Integer());
  const time = (secondsOf: (row: UploadRow) => number): Field<UploadRow> => ({
    ...text,
    of: (row) => (secondsOf(row) === 0 ? undefined : utcText(secondsOf(row))),
  });
  return {
    fields: {
      id: text,
      start_time: time((row) => row.started_time),
      end_time: time((row) => row.ended_time),
      status: plain(oneOf(uploadStatuses)),
      input_method: { ...plain(oneOf(["Manual Upload", "Server Fetch"])), of: ({ source }) => (source === "url" ? "Server Fetch" : "Manual Upload") },
      url: { ...text, of: ({ url }) => orAbsent(url) },
      filename: { ...text, of: ({ file_name }) => orAbsent(file_name) },
      format: { ...plain(oneOf(feedFormats)), of: ({ format }) => orAbsent(format) },
      update_only: { ...plain(Type.Boolean()), of: ({ is_update }) => is_update === 1 },
      num_detected_items: { ...count, of: ({ rows }) => rows },
      num_persisted_items: { ...count, of: ({ items }) => items },
      num_invalid_items: { ...count, of: ({ bad_rows }) => bad_rows },
      num_deleted_items: { ...count, of: ({ items_removed }) => items_removed },
      /** With the problem of the file as a whole. */
      error_count: { ...count, of: ({ bad_rows, problem }) => bad_rows + (problem === null ? 0 : 1) },
    },
    defaults: ["id", "start_time", "end_time"],
    unserved: unservedFields.product_feed_upload,
  };
}

export const uploadNode = uploadSet(productFeed);

const ofError = (schema: TSchema): Field<UploadErrorRow> => ({ schema, policy: productFeed });

const uploadError: FieldSet<UploadErrorRow> = {
  fields: {
    severity: ofError(oneOf(["fatal", "warning"])),
    summary: ofError(Type.String()),
    /** Of the file, unpacked; the first line is 1. */
    row_number: ofError(Type.Integer()),
    retailer_id: ofError(Type.String()),
    field: ofError(oneOf(itemFields)),
  },
  defaults: ["severity", "summary", "row_number", "retailer_id", "field"],
  unserved: unservedFields.product_feed_upload_error,
};

const access = {
  clauses: [],
  decisions: ["D-147"],
  surfaces: ["base"],
  versions: "marketing",
  scheme: "anywhere",
  policy: productFeed,
  errorForm: "wrapped",
  errors: ["versionDeprecated"],
} as const satisfies Access;

export const readUpload = { ...access, operation: "readUpload" } as const;

export const listUploads = listOperation({
  ...access,
  operation: "listUploads",
  summary: "Lists the last hundred uploads of a product feed, newest first (D-147).",
  on: "product_feed",
  edge: "uploads",
  params: Type.Object({}),
  items: uploadNode,
  itemType: "product_feed_upload",
});

export const listUploadErrors = listOperation({
  ...access,
  operation: "listUploadErrors",
  summary: "Lists what is wrong with the file of an upload: first with all of it, then with its rows, the first hundred (D-147).",
  on: "product_feed_upload",
  edge: "errors",
  params: Type.Object({}),
  items: uploadError,
});

export const createUpload = writeOperation({
  ...access,
  policy: catalogFilling,
  decisions: ["D-147", "D-148"],
  operation: "createUpload",
  summary: "Takes a feed file, as `file` of multipart/form-data or by its address, and reads it in the background (D-147).",
  on: "product_feed",
  method: "POST",
  edge: "uploads",
  multipartBytesMax: REQUEST_BYTES_MAX,
  params: Type.Object(
    {
      file: Type.Optional(Type.Unknown({ format: "binary", description: "a file of multipart/form-data" })),
      url: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: FETCHED_URL_CHARACTERS_MAX,
          description: "the address of the file, in place of `file`",
          ...asked(webAddress),
        }),
      ),
      update_only: Type.Optional(Type.Boolean({ description: "true: items that the file does not name stay" })),
      ...credentials,
    },
    asked({
      if: having("file"),
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
      then: { not: having("url") },
      else: having("url"),
    }),
  ),
  returns: Type.Object({ id: Type.String() }),
  errors: ["versionDeprecated", "invalidParameter", "edgeRateLimited"],
});
