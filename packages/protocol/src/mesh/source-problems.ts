import type { Dependency, DependencySource } from "./dependency.ts";

/** The config sources that a resource names. */
export interface SourcesOfResource {
  readonly dependencies: readonly Dependency[];
  /** For a Cluster: its load reporting server. */
  readonly loadServer: DependencySource | undefined;
}

/**
 * Returns why a client with a single aggregated stream, such as gRPC, rejects a resource: it names a source other than
 * `ads` and `self` (C-ADS-06), or reports load to a server other than `self`. Empty if it accepts it.
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
