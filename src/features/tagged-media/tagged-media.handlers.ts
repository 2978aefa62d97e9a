import type { ListRequest } from "#graph/contract/operation";
import type { Reader } from "#storage/database";
import { listTaggedMedia } from "./tagged-media.store.ts";

export const handleListTags = (request: ListRequest, reader: Reader) => listTaggedMedia(reader, request.node.id, request.page);
