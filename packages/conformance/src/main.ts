import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Case } from "./case.ts";
import { clientCases } from "./cases/client/cases.ts";
import { serverCases } from "./cases/server/cases.ts";
import { playClientOverTheWire } from "./play/client/over-the-wire.ts";
import { clientPlaysOf } from "./play/client/plays.ts";
import { playOverTheWire } from "./play/over-the-wire.ts";
import type { Verdict } from "./play/play.ts";
import { playsOf } from "./play/plays.ts";
import { clientRequirements } from "./requirement/client/rules.ts";
import { levelOf } from "./requirement/level.ts";
import type { Requirement } from "./requirement/requirement.ts";
import { requirements } from "./requirement/requirements.ts";
import { compareWithKnown, type KnownFailure, type Outcome, parseKnownFailures } from "./target/known-failures.ts";
import { clientTargetNamed, targetNamed } from "./target/named.ts";

/** The exit status of test programs that were skipped. */
const CANNOT_RUN = 77;

const USAGE = `usage: main.js --target ours|our-client|go-control-plane|PROGRAM [--only ID] [--known FILE] [--strict] [--at-once N] [--verbose]

Plays every case over gRPC, and over REST if it has that, against a target; those of the client if the target is one. PROGRAM is one
that starts servers and takes commands as lines of JSON (packages/conformance/README.md). FILE lists known failures; a listed case that
passes or is not played is a failure too. --strict counts as failures also what is not played, and what differs where the protocol leaves
a choice.

Ends with 0, 1 if something failed, 2 if nothing was played, or ${CANNOT_RUN} if the target cannot run on this machine.`;

const { values } = parseArgs({
  options: {
    target: { type: "string" },
    only: { type: "string" },
    known: { type: "string" },
    strict: { type: "boolean", default: false },
    "at-once": { type: "string", default: "16" },
    verbose: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help || values.target === undefined) {
  console.log(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  process.exitCode = await main(values.target);
}

/** The plays for a target, and how to play one. */
interface Suite {
  readonly name: string;
  readonly requirements: readonly Requirement[];
  readonly plays: readonly AnyPlay[];
  readonly inMemoryOnly: number;
  play(play: AnyPlay): Promise<Verdict>;
}

interface AnyPlay {
  readonly key: string;
  readonly case: Pick<Case, "id" | "also" | "says" | "memoryOnly" | "level">;
}

async function main(name: string): Promise<number> {
  await using client = await clientTargetNamed(name);
  if (client !== undefined) {
    const plays = clientPlaysOf(clientCases);
    return await report({
      ...suiteOf(plays, (play) => playClientOverTheWire(play, client)),
      name: client.name,
      requirements: clientRequirements,
    });
  }
  await using target = await targetNamed(name);
  if (target === undefined) {
    console.log(`SKIPPED ${name}: it cannot run on this machine (go-control-plane needs Go 1.25 or newer)`);
    return CANNOT_RUN;
  }
  const plays = playsOf(serverCases).filter(({ kind }) => target.hasRest || kind !== "rest");
  const suite = suiteOf(plays, (play) => playOverTheWire(play, target));
  return await report({ ...suite, name: target.name, requirements });
}

function suiteOf<P extends AnyPlay>(
  all: readonly P[],
  play: (play: P) => Promise<Verdict>,
): Pick<Suite, "plays" | "inMemoryOnly" | "play"> {
  const plays = all.filter(({ case: { memoryOnly } }) => memoryOnly === undefined);
  const inMemoryOnly = new Set(all.map((each) => each.case)).size - new Set(plays.map((each) => each.case)).size;
  const byKey = new Map(plays.map((each) => [each.key, each]));
  return {
    plays,
    inMemoryOnly,
    play: async ({ key }) => {
      const own = byKey.get(key);
      if (own === undefined) throw new Error(`no play ${key}`);
      return play(own);
    },
  };
}

async function report(suite: Suite): Promise<number> {
  const known = parseKnownFailures(readKnown(suite.name));
  const { only } = values;
  const chosen = only === undefined ? suite.plays : suite.plays.filter((play) => isOf(play, only));
  if (chosen.length === 0) return misused(`no case of ${suite.name} is of ${only}`);
  const atOnce = Number(values["at-once"]);
  if (!Number.isSafeInteger(atOnce) || atOnce < 1)
    return misused(`--at-once: expected a whole number from 1 on, got ${JSON.stringify(values["at-once"])}`);
  const verdicts = await playAll(chosen, suite, atOnce);
  const counts = new Map<Outcome, number>();
  for (const [play, verdict] of verdicts) {
    const level = levelOf(play.case, suite.requirements);
    const failure = known.get(play.key);
    const outcome = compareWithKnown(verdict, level, failure);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    const reason = reasonOf(outcome, verdict, failure);
    console.log(`${outcome.padEnd(19)} ${level.padEnd(6)} ${play.key.padEnd(38)} ${play.case.says}${reason}`);
    const isNew = outcome === "FAILS" || outcome === "differs";
    if ("expected" in verdict && (isNew || values.verbose)) console.log(describe(verdict));
  }
  const gone = [...known.keys()].filter((key) => !suite.plays.some((play) => play.key === key));
  for (const key of gone) console.log(`${"NO SUCH CASE".padEnd(19)} ${key}`);
  const summary = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  console.log(
    `\n${suite.name}: ${chosen.length} plays: ${summary}; ${suite.inMemoryOnly} cases are played in memory only`,
  );
  if (counts.get("not played") === chosen.length) {
    console.error("nothing was proved: the target supports none of these cases");
    return 2;
  }
  const bad: readonly Outcome[] = ["FAILS", "PASSES UNEXPECTED", "LISTED, NOT PLAYED"];
  const badIfStrict: readonly Outcome[] = values.strict ? ["differs", "not played"] : [];
  return gone.length > 0 || [...bad, ...badIfStrict].some((outcome) => counts.has(outcome)) ? 1 : 0;
}

function reasonOf(outcome: Outcome, verdict: Verdict, known: KnownFailure | undefined): string {
  if ("notPlayed" in verdict) return ` (${verdict.notPlayed})`;
  return outcome === "fails as known" ? ` (${known?.reason})` : "";
}

/** Whether a play is of a requirement, a case or itself, each as it is printed. */
function isOf({ key, case: { id, also = [] } }: AnyPlay, name: string): boolean {
  return [key, id, id.split("/")[0], ...also].includes(name);
}

function misused(problem: string): number {
  console.error(`${problem}\n\n${USAGE}`);
  return 2;
}

function readKnown(target: string): string {
  const file = values.known ?? new URL(`../known-failures/${target}.txt`, import.meta.url);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // Most targets have no list of known failures; one given on the command line must exist.
    if (values.known !== undefined) throw error;
    return "";
  }
}

/** The verdicts, in the order of the plays. */
async function playAll(
  plays: readonly AnyPlay[],
  suite: Suite,
  atOnce: number,
): Promise<readonly (readonly [AnyPlay, Verdict])[]> {
  const verdicts = new Map<AnyPlay, Verdict>();
  const left = [...plays];
  const work = async (): Promise<void> => {
    for (let play = left.shift(); play !== undefined; play = left.shift()) verdicts.set(play, await suite.play(play));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const unplayed: Verdict = { passed: false, step: 1, expected: "a play", actual: "none" };
  return plays.map((play) => [play, verdicts.get(play) ?? unplayed]);
}

function describe(verdict: Extract<Verdict, { readonly expected: string }>): string {
  return `  step ${verdict.step}\n  expected ${oneLine(verdict.expected)}\n  actual   ${oneLine(verdict.actual)}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s*\n\s*/g, " ");
  return line.length > 600 ? `${line.slice(0, 600)} ...` : line;
}
