import type { ResponseFormat } from "@xdskit/envoy-api";
import type { FileOutput } from "@xdskit/server";

/** The flags of `xds export` that are not settings. */
export interface ExportFlags {
  readonly format: ResponseFormat;
  readonly node: string;
  readonly cluster: string;
  readonly rewriteSources?: boolean;
  readonly symlinks?: boolean;
  readonly v2?: boolean;
  readonly settle: number;
  readonly watch?: boolean;
  readonly [setting: string]: unknown;
}

/** The file output that the flags describe. */
export function fileOutputOf(directory: string, flags: ExportFlags): FileOutput {
  return {
    directory,
    format: flags.format,
    node: { id: flags.node, cluster: flags.cluster },
    rewriteSources: flags.rewriteSources === true,
    symlinks: flags.symlinks === true,
    apiVersion: flags.v2 === true ? "v2" : "v3",
    settleMs: flags.settle,
  };
}
