import type { Runtime } from "../../gen/types/envoy/service/runtime/v3/rtds_pb.d.ts";
import { type CatalogEntry, defineEntry } from "./entry.ts";

/** RTDS: a runtime layer, named as in the bootstrap. */
export const runtime: CatalogEntry = defineEntry<Runtime>({
  message: "envoy.service.runtime.v3.Runtime",
  kind: "rtds",
  shortName: "rtds",
  v2Message: "envoy.service.discovery.v2.Runtime",
  discovery: {
    services: { v3: "envoy.service.runtime.v3.Runtime", v2: "envoy.service.discovery.v2.Runtime" },
    noun: "Runtime",
    rest: "runtime",
  },
  nameField: "name",
});
