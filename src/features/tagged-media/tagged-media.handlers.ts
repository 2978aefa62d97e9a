import type { ListCall } from "#graph/contract";
import type { Reader } from "#storage/database";
import { listTaggedMedia } from "./tagged-media.store.ts";

export const handleListTags = (call: ListCall, reader: Reader) => listTaggedMedia(reader, call.node.id, call.page);
