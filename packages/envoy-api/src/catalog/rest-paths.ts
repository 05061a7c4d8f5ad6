/** The paths of REST discovery: JSON, one response per request (requirements 1.2). */
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";
import { catalog } from "./entries.ts";

/** A path of REST discovery and its type. */
export interface RestPath {
  /** Such as `/v3/discovery:clusters`. */
  readonly path: string;
  readonly apiVersion: ApiVersion;
  /** The type of a request that names none. */
  readonly type: TypeUrl;
  /** The same type in the other API version, which a request may also name (S-TYP-06). */
  readonly twin: TypeUrl | undefined;
}

/** Every path. */
export const restPaths: readonly RestPath[] = catalog.flatMap(({ type, v2Twin, discovery }): readonly RestPath[] => {
  const rest = discovery?.rest;
  if (typeof rest !== "string") return [];
  const v3: RestPath = { path: `/v3/discovery:${rest}`, apiVersion: "v3", type, twin: v2Twin };
  if (v2Twin === undefined) return [v3];
  return [{ path: `/v2/discovery:${rest}`, apiVersion: "v2", type: v2Twin, twin: type }, v3];
});

/** Paths without a REST form, with the reason (B-RST-05, B-ADS-07, B-DLT-01). */
export const pathsWithoutRest: ReadonlyMap<string, string> = new Map(
  ["v2", "v3"].flatMap((version) => [
    [`/${version}/discovery:aggregated`, "there is no ADS over REST; poll the path of each type, or use gRPC"],
    [`/${version}/discovery:load_stats`, "load is reported over a stream; use gRPC"],
    ...catalog.flatMap(({ discovery }) => {
      const rest = discovery?.rest;
      if (rest === undefined || typeof rest === "string") return [];
      return rest.absent.map((path): [string, string] => [`/${version}/discovery:${path}`, rest.reason]);
    }),
  ]),
);
