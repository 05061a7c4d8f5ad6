import type { Dependency, DependencySource } from "./dependency.ts";

/** What a resource wants from elsewhere. */
export interface SourcesOfResource {
  readonly dependencies: readonly Dependency[];
  /** Of a Cluster: whom its load is reported to. */
  readonly loadServer: DependencySource | undefined;
}

/**
 * Why a client that knows one aggregated stream only, as those of gRPC do, refuses a resource: it names sources that are neither `ads` nor `self`
 * (C-ADS-06). Load is reported to `self` only. Empty: it does not.
 */
export function sourceProblems({ dependencies, loadServer }: SourcesOfResource): readonly string[] {
  const problems = dependencies.flatMap(({ type, name, source, handsDown }) => {
    const wrong = [source, handsDown?.source].find((one) => one?.kind === "api" || one?.kind === "path");
    return wrong === undefined
      ? []
      : [`expected ads or self as the source of ${name} (${type}), got ${spelled(wrong)}`];
  });
  const isLoadWrong = loadServer !== undefined && loadServer.kind !== "self";
  return isLoadWrong ? [...problems, `expected self as lrs_server, got ${spelled(loadServer)}`] : problems;
}

function spelled({ kind }: DependencySource): string {
  if (kind === "api") return "api_config_source";
  return kind === "path" ? "a file" : kind;
}
