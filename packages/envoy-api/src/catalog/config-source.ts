import type { ConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";

/** Whether a resource from this source is asked for over xDS, and not read from a file. */
export function isAskedOverXds(source: ConfigSource | undefined): boolean {
  switch (source?.configSourceSpecifier.case) {
    case "ads":
    case "apiConfigSource":
    case "self":
      return true;
    default:
      return false;
  }
}
