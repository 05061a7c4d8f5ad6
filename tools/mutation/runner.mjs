// SPDX-License-Identifier: Apache-2.0
// Runs in Vitest, in place of its own runner: loads the tests once, and runs them against one mutant after another. What
// to do is in the file that XDS_MUTATION_JOB names; results are appended to another, a line each, so that the results so
// far outlive a mutant that ends the process.
import { appendFileSync, readFileSync } from "node:fs";
import { vi } from "vitest";
import { VitestTestRunner } from "vitest/runners";

const job = JSON.parse(readFileSync(process.env.XDS_MUTATION_JOB, "utf8"));
const off = "";

/** The mutant that is on, how often it may be met in one test and was, and how often each was while nothing is on. */
const state = { active: off, limit: Infinity, met: 0, counts: new Uint32Array(job.size), isCounting: true };

globalThis.xdsMutation = {
  isActive: (id) => {
    if (state.active !== id) return false;
    // Whatever loops for ever meets its mutant for ever.
    if (++state.met > state.limit) throw new Error("met too often");
    return true;
  },
  cover: (...ids) => {
    if (state.isCounting) for (const id of ids) state.counts[id]++;
  },
};

// A mutant that matters while modules are loaded is on from the start, and the only one of its process.
if (job.only !== undefined) {
  state.active = String(job.only.id);
  tell({ begun: job.only.id });
}

// biome-ignore lint/style/noDefaultExport: Vitest takes the runner from there.
export default class MutationRunner extends VitestTestRunner {
  async onCollected(files) {
    // Tests that do not load fail: with a mutant they detect it, and without one there is nothing to measure.
    const failed = files.find(({ result }) => result?.state === "fail");
    if (failed !== undefined) {
      if (job.only !== undefined) tell({ id: job.only.id, by: "loading", error: failed.result.errors[0]?.message });
      return;
    }
    const tests = new Map(files.flatMap((file) => testsIn(file, [], [])).map((test) => [test.name, test]));
    if (job.only !== undefined) await this.#play(job.only, tests);
    else if (job.mutants === undefined) await this.#coverage(tests);
    else
      for (const [index, mutant] of job.mutants.entries()) if (!(await this.#play(mutant, tests, index === 0))) break;
    for (const { task } of tests.values()) task.mode = "skip";
  }

  /** Runs every test without a mutant, and tells what each met. */
  async #coverage(tests) {
    const loaded = metOf(state.counts);
    tell({ loaded: loaded.map(([id]) => id) });
    for (const test of tests.values()) {
      state.counts.fill(0);
      const began = process.cpuUsage();
      const error = await run(test);
      if (error !== undefined) tell({ broken: test.name, error });
      tell({ test: test.name, took: processorTime(began), met: metOf(state.counts) });
    }
  }

  /**
   * Runs the tests of one mutant until one fails. Returns whether the next mutant finds everything as it was: the same test
   * passes without the mutant. If it does not, an earlier mutant may be the reason, unless there was none.
   */
  async #play(mutant, tests, isFirst = true) {
    state.isCounting = false;
    tell({ begun: mutant.id });
    for (const name of mutant.tests ?? tests.keys()) {
      const test = tests.get(name);
      if (test === undefined) continue;
      state.active = String(mutant.id);
      state.limit = mutant.limit ?? Infinity;
      state.met = 0;
      const error = await run(test);
      if (error === undefined) continue;
      state.active = off;
      const isClean = job.only === undefined && (await run(test)) === undefined;
      if (isClean || isFirst) tell({ id: mutant.id, by: test.name, error });
      else tell({ again: mutant.id });
      return isClean;
    }
    state.active = off;
    tell({ id: mutant.id });
    return true;
  }
}

/** Runs one test with its hooks; returns the message of what it threw. */
async function run({ task, suites }) {
  const hooks = (name) => suites.flatMap((suite) => VitestTestRunner.getSuiteHooks(suite)[name]);
  try {
    for (const hook of hooks("beforeEach")) await hook(task.context, task.suite);
    await VitestTestRunner.getTestFn(task)();
    return undefined;
  } catch (error) {
    return String(error?.message ?? error).slice(0, 300);
  } finally {
    for (const hook of hooks("afterEach")) await hook(task.context, task.suite);
    vi.restoreAllMocks();
  }
}

function testsIn(suite, suites, names) {
  return suite.tasks.flatMap((task) => {
    const path = [...names, task.name];
    if (task.type === "suite") return testsIn(task, [...suites, suite], path);
    return task.mode === "run" ? [{ task, suites: [...suites, suite], name: path.join(" > ") }] : [];
  });
}

/** Milliseconds of processor time: those that others leave do not count. */
function processorTime(since) {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

function metOf(counts) {
  return [...counts.entries()].filter(([, count]) => count > 0);
}

function tell(line) {
  appendFileSync(job.results, `${JSON.stringify(line)}\n`);
}
