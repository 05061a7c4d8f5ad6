import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { serverCases } from "./cases/server/cases.ts";
import { playOverTheWire } from "./play/over-the-wire.ts";
import type { Verdict } from "./play/play.ts";
import { type Play, playsOf } from "./play/plays.ts";
import { compareWithKnown, type Outcome, parseKnownFailures } from "./target/known-failures.ts";
import { targetNamed } from "./target/named.ts";
import type { Target } from "./target/target.ts";

const USAGE = `usage: main.js --target ours|go-control-plane|PROGRAM [--only ID] [--known FILE] [--at-once N] [--verbose]

Plays every case over gRPC, and over REST if it has that, against a target. PROGRAM is one that starts servers and takes commands as lines of JSON
(packages/conformance/README.md). FILE lists known failures; a listed case that passes is a failure too.`;

const { values } = parseArgs({
  options: {
    target: { type: "string" },
    only: { type: "string" },
    known: { type: "string" },
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

async function main(name: string): Promise<number> {
  const target = await targetNamed(name);
  if (target === undefined) {
    console.log(`SKIPPED ${name}: it cannot run on this machine (go-control-plane needs Go 1.25 or newer)`);
    return 0;
  }
  try {
    return await report(target);
  } finally {
    await target[Symbol.asyncDispose]();
  }
}

async function report(target: Target): Promise<number> {
  const known = parseKnownFailures(readKnown(target.name));
  const plays = playsOf(serverCases.filter(({ memoryOnly }) => memoryOnly === undefined));
  const playable = plays.filter(({ kind }) => target.hasRest || kind !== "rest");
  const chosen = playable.filter(({ key }) => values.only === undefined || key.split(/[ /]/).includes(values.only));
  const verdicts = await playAll(chosen, target);
  const counts = new Map<Outcome, number>();
  for (const [play, verdict] of verdicts) {
    const outcome = compareWithKnown(verdict.passed, known.get(play.key));
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    const reason = outcome === "fails as known" ? ` (${known.get(play.key)?.reason})` : "";
    console.log(`${outcome.padEnd(19)} ${play.key.padEnd(38)} ${play.case.says}${reason}`);
    if (!verdict.passed && (outcome === "FAILS" || values.verbose)) console.log(describe(verdict));
  }
  const gone = [...known.keys()].filter((key) => !plays.some((play) => play.key === key));
  for (const key of gone) console.log(`${"NO SUCH CASE".padEnd(19)} ${key}`);
  const summary = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  console.log(
    `\n${target.name}: ${chosen.length} plays: ${summary}; ${serverCases.length - new Set(plays.map((play) => play.case)).size} cases are played in memory only`,
  );
  const isBad = gone.length > 0 || counts.has("FAILS") || counts.has("PASSES UNEXPECTED");
  return isBad ? 1 : 0;
}

function readKnown(target: string): string {
  const file = values.known ?? new URL(`../known-failures/${target}.txt`, import.meta.url);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // Most targets have no list; one that was asked for must be there.
    if (values.known !== undefined) throw error;
    return "";
  }
}

async function playAll(plays: readonly Play[], target: Target): Promise<ReadonlyMap<Play, Verdict>> {
  const verdicts = new Map<Play, Verdict>(plays.map((play) => [play, { passed: true }]));
  const left = [...plays];
  const work = async (): Promise<void> => {
    for (let play = left.shift(); play !== undefined; play = left.shift()) {
      verdicts.set(play, await playOverTheWire(play, target));
    }
  };
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, work));
  return verdicts;
}

function describe(verdict: Extract<Verdict, { passed: false }>): string {
  return `  step ${verdict.step}\n  expected ${oneLine(verdict.expected)}\n  actual   ${oneLine(verdict.actual)}`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s*\n\s*/g, " ");
  return line.length > 600 ? `${line.slice(0, 600)} ...` : line;
}
