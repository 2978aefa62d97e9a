import type { Static } from "typebox";
import type { ListRequest, ListResult, OperationRequest } from "#graph/contract/operation";
import type { UploadedFile } from "#graph/pipeline/request";
import { notFoundNode } from "#graph/pipeline/route";
import { invalidParameter } from "#kernel/errors";
import type { Reader } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Bytes } from "../formats/bytes.ts";
import { FeedFileProblem } from "../formats/rows.ts";
import { findUploadNode, listUploadsOfFeed, type UploadKey } from "../ingestion/uploads.store.ts";
import { receiveFile, receiveUrl } from "../ingestion/uploads.ts";
import { UPLOADS_WAITING_MAX } from "../product-feeds.limits.ts";
import { refuseAddress, refuseCredentials } from "../schedules/parameters.ts";
import { errorsOf, type UploadErrorRow } from "./errors.ts";
import type { createUpload } from "./uploads.contract.ts";

type CreateUpload = OperationRequest<Static<typeof createUpload.params>>;

/** Not in one transaction: each part of a file is stored in a write of its own. */
export async function submitUpload(request: CreateUpload): Promise<{ id: string }> {
  const { params, graphRequest } = request;
  refuseCredentials(params, invalidParameter);
  const file = graphRequest.files.get("file");
  if (file !== undefined && params.url !== undefined) throw invalidParameter("url", "and file exclude each other");
  const key = file === undefined ? await fetchLater(request) : await take(request, file);
  if (key === undefined) throw notFoundNode(request);
  return { id: key.id };
}

const inputOf = ({ params }: CreateUpload) => ({ isUpdate: params.update_only === true, waitingMax: UPLOADS_WAITING_MAX });

async function take(request: CreateUpload, { filename, bytes }: UploadedFile): Promise<UploadKey | undefined> {
  try {
    return await receiveFile(request.world, request.node.id, inOnePiece(bytes), { ...inputOf(request), file_name: filename });
  } catch (error) {
    // Or the feed was deleted meanwhile.
    throw error instanceof FeedFileProblem ? invalidParameter("file", `is refused: ${error.message}`) : error;
  }
}

async function* inOnePiece(bytes: Uint8Array): Bytes {
  yield bytes;
}

function fetchLater(request: CreateUpload): Promise<UploadKey | undefined> {
  const { params, world, node } = request;
  const { url } = params;
  if (url === undefined) throw invalidParameter("file", "must be a file of multipart/form-data, unless url is given");
  refuseAddress(url, world, invalidParameter);
  return world.database.write((tx) => receiveUrl(tx, world, node.id, url, inputOf(request)));
}

export const handleListUploads = (request: ListRequest, reader: Reader) => listUploadsOfFeed(reader, request.node.id, request.page);

export async function handleListUploadErrors({ node, page }: ListRequest, reader: Reader): Promise<ListResult<UploadErrorRow>> {
  const upload = await findUploadNode(reader, node.id);
  return pageOf(upload === undefined ? [] : errorsOf(upload), page);
}

/** A page of a list that is in memory as a whole; the key of a row is its place. */
function pageOf<R>(rows: readonly R[], { limit, after, before, isInclusive }: PageRequest): ListPage<R> {
  const placeOf = (key: readonly string[] | undefined): number | undefined => (key === undefined ? undefined : Number(key[0]));
  const own = isInclusive === true ? 0 : 1;
  const end = Math.min(rows.length, before === undefined ? rows.length : (placeOf(before) as number) + 1 - own);
  const start = before === undefined ? Math.min(rows.length, after === undefined ? 0 : (placeOf(after) as number) + own) : Math.max(0, end - limit);
  const found = rows.slice(start, before === undefined ? start + limit : end);
  const page = { rows: found, hasPrevious: start > 0, hasNext: start + found.length < rows.length };
  return found.length === 0 ? page : { ...page, firstKey: [String(start)], lastKey: [String(start + found.length - 1)] };
}
