/** What others ask of places. */
import type { NodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";

interface PlacePort {
  exists(reader: Reader, place: NodeId): Promise<boolean>;
}

declare module "#kernel/ports" {
  interface Ports {
    place: PlacePort;
  }
}
