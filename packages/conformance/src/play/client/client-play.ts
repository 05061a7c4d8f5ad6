import { statusCode } from "@xdskit/protocol/internal";
import type { ClientCase, ClientExpectation, ClientStep, ScriptedResponse, SentRequest } from "../../client-case.ts";
import type { TypeName } from "../../content/catalog.ts";
import { UnsupportedStep } from "../driver.ts";
import { type PlayDifference, playSteps, type Verdict } from "../play.ts";
import {
  type ClientAwaited,
  type ClientDriver,
  type ClientObservation,
  mainSource,
  type PlainScripted,
  type PlainSource,
  type PlainWatch,
} from "./driver.ts";
import type { ClientPlay } from "./plays.ts";
import { type Labels, renderNews, renderReport, renderRequest, renderWanted } from "./rendered.ts";

/** Plays a case to its end or to the first step that fails, then stops the driver. */
export async function playClient(scene: ClientPlay, driver: ClientDriver, labels: Labels): Promise<Verdict> {
  try {
    const { setup = {}, steps } = scene.case;
    await driver.start(sourcesOf(scene), setup);
    return await playSteps(steps, (step) => runStep(step, { script: scene.case, driver, labels }));
  } catch (error) {
    if (error instanceof UnsupportedStep) return { passed: false, step: 1, notPlayed: error.message };
    throw error;
  } finally {
    await driver.stop();
  }
}

interface Scene {
  readonly script: ClientCase;
  readonly driver: ClientDriver;
  readonly labels: Labels;
}

function sourcesOf({ case: { variant, setup = {} }, kind }: ClientPlay): readonly PlainSource[] {
  const main = { variant, kind, ...setup, id: mainSource };
  const others = Object.entries(setup.others ?? {}).map(([id, other]) => ({ variant, kind, ...other, id }));
  return [main, ...others];
}

async function runStep(step: ClientStep, scene: Scene): Promise<PlayDifference | undefined> {
  await perform(step, scene);
  const observations = await scene.driver.settle(awaitedBy(step));
  const actual = JSON.stringify(renderActual(step, observations, scene), undefined, 2);
  const expected = JSON.stringify(renderExpected(step, scene), undefined, 2);
  return actual === expected ? undefined : { expected, actual };
}

async function perform(step: ClientStep, { script, driver }: Scene): Promise<void> {
  const typed = (response: ScriptedResponse): PlainScripted => ({ ...response, type: response.type ?? script.type });
  if ("watches" in step) return driver.watch(watchesOf(step, script.type));
  if ("stops" in step) return driver.stopWatches(listOf(step.stops));
  if ("responds" in step) return driver.respond(step.on ?? mainSource, listOf(step.responds).map(typed));
  if ("arrives" in step) return driver.arrive(step.on ?? mainSource, typed(step.arrives));
  if ("judged" in step) return driver.judged(step.judged);
  if ("garbles" in step) return driver.garble(step.garbles, step.as ?? "no message");
  if ("ends" in step) return driver.end(step.ends, statusCode[step.with]);
  if ("unchanged" in step) return driver.unchanged(step.unchanged);
  if ("due" in step) return driver.due(step.due);
  if ("meets" in step) return driver.meet(step.of ?? mainSource, step.meets);
  if ("passes" in step) return driver.pass(step.passes);
  if ("describes" in step) return driver.describe(step.describes);
  if ("restores" in step) return driver.restore(step.type ?? script.type, step.restores);
  return driver.warmed(step.warmed);
}

function watchesOf(
  { watches, type, of, as }: Extract<ClientStep, { readonly watches: unknown }>,
  defaultType: TypeName,
): readonly PlainWatch[] {
  return listOf(watches).map((term) => ({
    watch: as ?? term,
    source: of ?? mainSource,
    type: type ?? defaultType,
    term,
  }));
}

function listOf<T>(given: T | readonly T[]): readonly T[] {
  return Array.isArray(given) ? given : [given as T];
}

function awaitedBy({ asks = [], tells = {}, opens = [], closes = [] }: ClientExpectation): ClientAwaited {
  const news = Object.values(tells).reduce((sum, list) => sum + list.length, 0);
  return { requests: asks.length, news, opened: opens.length, closed: closes.length };
}

function renderExpected(step: ClientExpectation, { script, driver }: Scene): unknown {
  const asks = new Map<string, unknown[]>();
  for (const request of step.asks ?? []) into(asks, request.on ?? mainSource, renderWanted(request, script.type));
  return {
    opens: [...(step.opens ?? [])].sort(),
    closes: [...(step.closes ?? [])].sort(),
    asks: sorted(asks),
    tells: sorted(new Map(Object.entries(step.tells ?? {}))),
    reports: driver.tellsReports ? step.reports : undefined,
  };
}

function renderActual(step: ClientStep, seen: readonly ClientObservation[], { driver, labels }: Scene): unknown {
  const wanted = requestsByStream(step);
  const asks = new Map<string, unknown[]>();
  const tells = new Map<string, unknown[]>();
  const opens: string[] = [];
  const closes: string[] = [];
  const reports: string[] = [];
  for (const each of seen) {
    if (each.kind === "opened") opens.push(each.stream);
    else if (each.kind === "closed") closes.push(each.stream);
    else if (each.kind === "report") reports.push(renderReport(each.report));
    else if (each.kind === "news") into(tells, each.watch, renderNews(each.news, labels));
    else {
      const { stream, request, isUrgent } = each;
      const expected = wanted.get(stream)?.[asks.get(stream)?.length ?? 0];
      into(asks, stream, renderRequest(request, isUrgent, expected));
    }
  }
  return {
    opens: opens.sort(),
    closes: closes.sort(),
    asks: sorted(asks),
    tells: sorted(tells),
    reports: driver.tellsReports && step.reports !== undefined ? reports : undefined,
  };
}

function requestsByStream({ asks = [] }: ClientExpectation): ReadonlyMap<string, readonly SentRequest[]> {
  const requests = new Map<string, SentRequest[]>();
  for (const request of asks) into(requests, request.on ?? mainSource, request);
  return requests;
}

function into<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function sorted(map: ReadonlyMap<string, unknown>): unknown {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
