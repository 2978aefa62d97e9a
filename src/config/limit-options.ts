/** Options that bound what clients of the graph may take up. `src/http/limits.ts` gives the reasons for these defaults. */
import type { Option, OptionName } from "./option.ts";
import * as read from "./option-readers.ts";

const BODY_BYTES_LIMIT = 1024 * 1024 * 1024;
/** A head must be read completely so that the error has the form of the interface. */
const HEADER_BYTES_LIMIT = 65_536;
const HOUR_MS = 3_600_000;

export const limitOptions: readonly Option<OptionName>[] = [
  {
    name: "body_bytes_max",
    value: "BYTES",
    read: read.integer(1024, BODY_BYTES_LIMIT),
    default: 1_048_576,
    summary: "largest body of a graph request",
  },
  {
    name: "header_bytes_max",
    value: "BYTES",
    read: read.integer(1024, HEADER_BYTES_LIMIT),
    default: 16_384,
    summary: "largest address and headers of a graph request, together",
  },
  {
    name: "head_ms_max",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 10_000,
    summary: "time within which the headers of a graph request must arrive",
  },
  {
    name: "body_ms_max",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 10_000,
    summary: "time within which the body of a graph request must arrive",
  },
  {
    name: "keep_alive_ms",
    value: "MS",
    read: read.integer(1, HOUR_MS),
    default: 65_000,
    summary: "time for which an idle connection stays open",
  },
  {
    name: "calls_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    default: 1_024,
    summary:
      "graph requests that run at the same time; once so many run, only callers with less than an equal share get more, and others 503 and Retry-After",
  },
  {
    name: "connections_max",
    value: "N",
    read: read.integer(1, Number.MAX_SAFE_INTEGER),
    default: 8_192,
    summary: "connections of clients of the graph, fewer where the system allows few open files; of more, the one that waited longest is closed",
  },
];
