import { statusCode } from "@xdskit/protocol/internal";
import type { Case, Expectation, NodeLayers, Publication, Request, Step, StreamSpec } from "../case.ts";
import type { TypeName } from "../content/catalog.ts";
import { type Content, contentOf, type DetailedResource } from "../content/content.ts";
import { idsOf } from "../requirement/coverage.ts";
import {
  type Awaited,
  type BookingObservation,
  type Change,
  type Commit,
  type Driver,
  type Observation,
  UnsupportedStep,
} from "./driver.ts";
import { Observed, renderExpected } from "./observed.ts";
import type { Play } from "./plays.ts";
import { Repeats } from "./repeats.ts";
import { ScriptedClientStream } from "./scripted-client.ts";
import { World } from "./world.ts";

/** The result of a play; `step` counts from 1. */
export type Verdict =
  | { readonly passed: true }
  | { readonly passed: false; readonly step: number; readonly expected: string; readonly actual: string }
  /** Nothing was proved: why the target cannot be made to do that step. */
  | { readonly passed: false; readonly step: number; readonly notPlayed: string };

/** Plays a case to its end or to the first step that fails, then stops the driver. */
export async function play(scene: Play, driver: Driver): Promise<Verdict> {
  const stage = new Stage(scene, driver);
  try {
    return await playSteps(scene.case.steps, (step) => stage.run(step));
  } finally {
    await driver.stop();
  }
}

/** Where what happened differs from what the case says. */
export interface PlayDifference {
  readonly expected: string;
  readonly actual: string;
}

/** Runs steps to the end, to the first that differs, or to the first that the target does not support. */
export async function playSteps<S>(
  steps: readonly S[],
  run: (step: S) => Promise<PlayDifference | undefined>,
): Promise<Verdict> {
  for (const [index, each] of steps.entries()) {
    const step = index + 1;
    try {
      const difference = await run(each);
      if (difference !== undefined) return { passed: false, step, ...difference };
    } catch (error) {
      if (error instanceof UnsupportedStep) return { passed: false, step, notPlayed: error.message };
      throw error;
    }
  }
  return { passed: true };
}

interface StreamOnStage {
  readonly id: string;
  readonly client: ScriptedClientStream;
  readonly connection: string;
  readonly server: string;
}

class Stage {
  readonly #case: Case;
  readonly #kind: Play["kind"];
  readonly #driver: Driver;
  readonly #observed: Observed;
  readonly #streams = new Map<string, StreamOnStage>();
  /** The streams that brought a response. */
  readonly #heard = new Set<StreamOnStage | undefined>();
  /** What may be left out of responses; undefined if nothing may. */
  readonly #repeats: Repeats | undefined;
  #opened = 0;
  readonly #servers = new Map<string, World>();
  #nodeMapping: NodeLayers;

  constructor({ case: script, kind }: Play, driver: Driver) {
    this.#case = script;
    this.#kind = kind;
    this.#driver = driver;
    this.#nodeMapping = script.setup?.nodeMapping ?? {};
    this.#observed = new Observed(driver.isExact || isAbout(script, "S-VER-08", "S-WRM-09"));
    this.#repeats =
      driver.isExact || isAbout(script, "S-RES-05")
        ? undefined
        : new Repeats((resource) => this.#observed.labelOf(resource));
  }

  async run(written: Step): Promise<PlayDifference | undefined> {
    const step = this.#driver.tellsBookings ? written : withoutReports(written);
    if (step.reports !== written.reports && this.#case.isAboutBookings) {
      throw new UnsupportedStep("it does not tell which ACKs and NACKs it records");
    }
    await this.#perform(step);
    const observations = await this.#driver.settle(awaitedBy(step));
    this.#refuseMissingMethods(step, observations);
    return this.#compare(step, observations);
  }

  async #perform(step: Step): Promise<void> {
    if ("publishes" in step) return this.#publish(step.publishes, step.at ?? "");
    if ("receives" in step) return this.#receive(step.receives, step.on ?? "main");
    if ("opens" in step) {
      for (const [name, spec] of Object.entries(step.opens)) await this.#open(name, spec);
      return;
    }
    if ("breaks" in step) return this.#break(step.breaks);
    if ("cancels" in step) {
      this.#streams.delete(step.cancels);
      return this.#driver.cancel(step.cancels);
    }
    if ("moves" in step) {
      this.#nodeMapping = step.moves;
      return this.#driver.move(step.moves);
    }
    if ("passes" in step) return this.#driver.pass(step.passes);
    if ("stalls" in step) return this.#driver.setReading(step.stalls, false);
    if ("drains" in step) return this.#driver.setReading(step.drains, true);
    return this.#restart(step.restarts);
  }

  async #publish(published: Publication | readonly Publication[], server: string): Promise<void> {
    const publications: readonly Publication[] = Array.isArray(published) ? published : [published];
    const commit = commitOf(publications);
    for (const { puts } of commit.changes) for (const content of puts) this.#observed.learn(content);
    const world = await this.#serverNamed(server);
    world.take(commit);
    await this.#driver.commit(server, commit);
  }

  async #receive(received: Request | readonly Request[], on: string): Promise<void> {
    const requests: readonly Request[] = Array.isArray(received) ? received : [received];
    const stream = this.#streams.get(on) ?? (await this.#open(on, {}));
    await this.#driver.send(
      on,
      requests.map((request) => stream.client.compose(request, this.#observed)),
    );
  }

  async #open(name: string, spec: StreamSpec) {
    const variant = spec.variant ?? this.#case.variant;
    const kind = spec.kind ?? this.#kind;
    const only = kind === "ads" ? undefined : kind === "per-type" || kind === "rest" ? this.#case.type : kind;
    const isPolled = kind === "rest";
    const server = spec.at ?? "";
    const connection = spec.connection ?? `c1${server}`;
    await this.#serverNamed(server);
    const { api = "v3", by } = spec;
    await this.#driver.open({ stream: name, variant, only, api, by, isPolled, connection, server });
    const stream = {
      id: `${name} ${++this.#opened}`,
      client: new ScriptedClientStream(variant, only ?? this.#case.type, spec.node ?? "n1", isPolled),
      connection,
      server,
    };
    this.#streams.set(name, stream);
    return stream;
  }

  async #break(connection: string): Promise<void> {
    for (const [name, stream] of this.#streams) if (stream.connection === connection) this.#streams.delete(name);
    await this.#driver.breakConnection(connection);
  }

  async #restart(server: string): Promise<void> {
    const world = await this.#serverNamed(server);
    for (const [name, stream] of this.#streams) if (stream.server === server) this.#streams.delete(name);
    await this.#driver.restart(server);
    await this.#driver.move(this.#nodeMapping);
    await this.#driver.commit(server, world.whole());
  }

  async #serverNamed(server: string): Promise<World> {
    let world = this.#servers.get(server);
    if (world === undefined) {
      world = new World();
      this.#servers.set(server, world);
      await this.#driver.start(server, this.#case.setup ?? {});
    }
    return world;
  }

  /**
   * Throws an `UnsupportedStep` if a stream was ended as one whose method there is not. On a stream that brought a
   * response there is one.
   */
  #refuseMissingMethods({ ends = {} }: Expectation, observations: readonly Observation[]): void {
    for (const seen of observations) {
      if (seen.kind === "response") this.#heard.add(this.#streams.get(seen.stream));
      if (seen.kind !== "end" || seen.code !== statusCode.UNIMPLEMENTED || ends[seen.stream] !== undefined) continue;
      if (!this.#heard.has(this.#streams.get(seen.stream)))
        throw new UnsupportedStep(`it answers UNIMPLEMENTED on stream ${seen.stream}`);
    }
  }

  #compare(step: Expectation, observations: readonly Observation[]): PlayDifference | undefined {
    const actual = JSON.stringify(this.#render(step, observations), undefined, 2);
    const expected = JSON.stringify(renderExpectation(step, this.#case.type), undefined, 2);
    for (const stream of Object.keys(step.ends ?? {})) this.#streams.delete(stream);
    return actual === expected ? undefined : { expected, actual };
  }

  #streamIdOf({ stream }: BookingObservation): string | undefined {
    return stream === undefined ? undefined : this.#streams.get(stream)?.id;
  }

  #render(step: Expectation, observations: readonly Observation[]): unknown {
    const sends = new Map<string, unknown[]>();
    const ends: [string, string][] = [];
    const unchanged: string[] = [];
    const bookings: BookingObservation[] = [];
    const wanted = responsesByStream(step);
    for (const observation of observations) {
      if (observation.kind === "end") ends.push([observation.stream, nameOfStatus(observation.code)]);
      else if (observation.kind === "booking") bookings.push(observation);
      else if (observation.kind === "unchanged") unchanged.push(observation.stream);
      else {
        const { stream, response } = observation;
        const list = sends.get(stream) ?? [];
        const streamId = this.#streams.get(stream)?.id ?? stream;
        const expected = wanted.get(stream)?.[list.length];
        const heard = this.#streams.get(stream);
        const compared = (heard && this.#repeats?.without(heard.client, response, expected)) ?? response;
        const node = `${heard?.server} ${heard?.client.nodeId}`;
        list.push(this.#observed.render(streamId, node, compared, expected));
        sends.set(stream, list);
        this.#streams.get(stream)?.client.take(response);
      }
    }
    const reports = step.reports;
    return {
      sends: sorted(sends),
      ends: ends.sort(),
      unchanged: unchanged.sort(),
      reports:
        reports &&
        bookings.map((booking, at) => this.#observed.renderBooking(this.#streamIdOf(booking), booking, reports[at])),
    };
  }
}

function isAbout(script: Case, ...ids: readonly string[]): boolean {
  return idsOf(script).some((id) => ids.includes(id));
}

function withoutReports({ reports: _, ...step }: Step): Step {
  return step;
}

function renderExpectation(step: Expectation, defaultType: TypeName): unknown {
  const sends = new Map<string, unknown[]>();
  for (const [stream, responses] of responsesByStream(step)) {
    sends.set(
      stream,
      responses.map((response) => renderExpected(response, defaultType)),
    );
  }
  return {
    sends: sorted(sends),
    ends: Object.entries(step.ends ?? {}).sort(),
    unchanged: [...(step.unchanged ?? [])].sort(),
    reports: step.reports?.map(inOneOrder),
  };
}

function inOneOrder({ acked, nacked, error, names }: NonNullable<Expectation["reports"]>[number]): unknown {
  return { acked, nacked, error, names };
}

function awaitedBy(step: Expectation): Awaited {
  const responses = new Map<string, number>();
  for (const [stream, list] of responsesByStream(step)) responses.set(stream, list.length);
  const { ends = {}, unchanged = [] } = step;
  return { responses, ends: Object.keys(ends), unchanged, bookings: step.reports?.length ?? 0 };
}

function responsesByStream(step: Expectation): ReadonlyMap<string, NonNullable<Expectation["sends"]>> {
  const responses = new Map<string, NonNullable<Expectation["sends"]>[number][]>();
  for (const response of step.sends ?? []) {
    const stream = response.on ?? "main";
    const list = responses.get(stream) ?? [];
    list.push(response);
    responses.set(stream, list);
  }
  return responses;
}

function sorted(map: ReadonlyMap<string, unknown>): unknown {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

function nameOfStatus(code: number): string {
  return Object.entries(statusCode).find(([, value]) => value === code)?.[0] ?? `status ${code}`;
}

function commitOf(publications: readonly Publication[]): Commit {
  const system = publications.map((publication) => publication.system).find((version) => version !== undefined);
  return { changes: publications.map(changeOf), systemVersion: system };
}

function changeOf({ layer, versions, canaries: marked, system: _, ...types }: Publication): Change {
  const puts: Content[] = [];
  const deletes: Change["deletes"][number][] = [];
  for (const [type, specs] of Object.entries(types) as [TypeName, readonly (string | object)[]][]) {
    for (const spec of specs) {
      const { is, when: constraints } = typeof spec === "string" ? { is: spec } : (spec as DetailedResource);
      if (is.startsWith("-")) deletes.push({ type, name: is.slice(1), constraints });
      else puts.push(contentOf(type, spec as Parameters<typeof contentOf>[1]));
    }
  }
  const typeVersions = new Map(Object.entries(versions ?? {})) as ReadonlyMap<TypeName, string>;
  const canaries = new Map(Object.entries(marked ?? {})) as ReadonlyMap<TypeName, boolean>;
  return { layer: layer ?? "base", puts, deletes, typeVersions, canaries };
}
