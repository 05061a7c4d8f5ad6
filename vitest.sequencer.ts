import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Projects of `vitest.config.ts` whose files share their process. */
const inOneProcess = ["together", "units"];

/**
 * The order of test files: those whose paths contain the first of these, then the next, then all others, and last those that share their process, in
 * one row for each project, as their workers keep the modules that they have loaded. Left to itself vitest begins with the largest files, and one worker
 * is at a long one when the others have ended.
 */
export function longestFirst(paths: readonly string[]): typeof BaseSequencer {
  const rank = ({ moduleId, project }: TestSpecification): number => {
    if (inOneProcess.includes(project.name)) return paths.length + 1 + inOneProcess.indexOf(project.name);
    const at = paths.findIndex((path) => moduleId.includes(path));
    return at < 0 ? paths.length : at;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    }
  };
}
