import type { BootstrapInput } from "./load-bootstrap.ts";

/**
 * The bootstrap in a gRPC client's environment: the file in GRPC_XDS_BOOTSTRAP, or else the content of
 * GRPC_XDS_BOOTSTRAP_CONFIG (C-CFG-09); undefined if neither is set.
 */
export function bootstrapFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): BootstrapInput | undefined {
  const path = environment["GRPC_XDS_BOOTSTRAP"];
  if (path !== undefined && path !== "") return { path, form: "grpc" };
  const text = environment["GRPC_XDS_BOOTSTRAP_CONFIG"];
  if (text !== undefined && text !== "") return { text, file: "GRPC_XDS_BOOTSTRAP_CONFIG", form: "grpc" };
  return undefined;
}
