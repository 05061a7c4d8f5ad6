import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The order of test files: those whose paths contain the first of these, then the next, then all others, and unit tests last. Left to itself vitest
 * begins with the largest files, and one worker is at a long one when the others have ended. Unit tests come in one row, as their workers keep
 * the modules that they have loaded.
 */
export function longestFirst(paths: readonly string[]): typeof BaseSequencer {
  const rank = ({ moduleId, project }: TestSpecification): number => {
    if (project.name === "units") return paths.length + 1;
    const at = paths.findIndex((path) => moduleId.includes(path));
    return at < 0 ? paths.length : at;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    }
  };
}
