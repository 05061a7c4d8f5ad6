import { setTimeout as elapsed } from "node:timers/promises";
import { type DiscoveryRequest, statusCode } from "@xdskit/protocol/internal";
import type { Garbage } from "../../client-case.ts";
import type { TypeName } from "../../content/catalog.ts";
import { type ScriptedServer, type ScriptedStream, startScriptedServer } from "../../peer/scripted-server.ts";
import type { ClientTarget, RunningClient } from "../../target/client-target.ts";
import { UnsupportedStep } from "../driver.ts";
import type { Verdict } from "../play.ts";
import { playClient } from "./client-play.ts";
import type {
  ClientAwaited,
  ClientDriver,
  ClientObservation,
  PlainScripted,
  PlainSource,
  PlainWatch,
} from "./driver.ts";
import { encodeScripted } from "./encoded.ts";
import type { ClientPlay } from "./plays.ts";
import { Labels } from "./rendered.ts";
import { streamName } from "./stream-name.ts";

/** Plays a client case over gRPC against a target; all servers are scripted ones. */
export function playClientOverTheWire(scene: ClientPlay, target: ClientTarget): Promise<Verdict> {
  const labels = new Labels();
  return playClient(scene, new OverTheWire(scene, target, labels), labels);
}

const LONGEST_PASS_MS = 1_000;
/** gRPC frames: one byte of flags, four bytes of length, and a message. */
const garbage: Readonly<Record<Garbage, Uint8Array>> = {
  // Invalid protobuf: the field number of the first tag is 0.
  "no message": Uint8Array.of(0, 0, 0, 0, 3, 7, 255, 255),
  cut: Uint8Array.of(0, 0, 0, 0, 9, 10, 1),
  "too large": Uint8Array.of(0, 255, 255, 255, 255, 10, 1),
};

interface OpenWireServerStream {
  readonly source: PlainSource;
  readonly wire: ScriptedStream;
}

class OverTheWire implements ClientDriver {
  readonly tellsReports = false;
  readonly #type: TypeName;
  readonly #target: ClientTarget;
  readonly #labels: Labels;
  readonly #servers: ScriptedServer[] = [];
  readonly #streams = new Map<string, OpenWireServerStream>();
  readonly #stops = new Map<string, () => void>();
  #client: RunningClient | undefined;
  #seen: ClientObservation[] = [];
  /** Streams that the client opened right after the step ended one; they belong to the next step. */
  readonly #early = new Set<ScriptedStream>();
  #seenEarly: ClientObservation[] = [];
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor({ case: { type } }: ClientPlay, target: ClientTarget, labels: Labels) {
    this.#type = type;
    this.#target = target;
    this.#labels = labels;
  }

  async start(sources: readonly PlainSource[]): Promise<void> {
    const reachable = await Promise.all(
      sources.map(async (source) => {
        if (source.meets !== undefined) throw new UnsupportedStep("servers accept whoever connects");
        const places = Array.from({ length: source.servers ?? 1 }, (_, server) => server);
        return { ...source, addresses: await Promise.all(places.map((server) => this.#serve(source, server))) };
      }),
    );
    this.#client = await this.#target.start(reachable);
  }

  async watch(watches: readonly PlainWatch[]): Promise<void> {
    for (const watch of watches) {
      const stop = this.#client?.watch(watch, (news) => this.#see({ kind: "news", watch: watch.watch, news }));
      if (stop !== undefined) this.#stops.set(watch.watch, stop);
    }
  }

  async stopWatches(watches: readonly string[]): Promise<void> {
    for (const watch of watches) {
      this.#stops.get(watch)?.();
      this.#stops.delete(watch);
    }
  }

  async respond(stream: string, responses: readonly PlainScripted[]): Promise<void> {
    const { source, wire } = this.#streamNamed(stream);
    for (const response of responses) wire.send(encodeScripted(response, source.variant, this.#labels));
  }

  async garble(stream: string, as: Garbage): Promise<void> {
    const { wire } = this.#streamNamed(stream);
    // The client does not use such a stream any more.
    this.#streams.delete(stream);
    this.#hasEnded = true;
    wire.sendRaw(garbage[as]);
    if (as === "cut") wire.end(statusCode.OK);
  }

  async end(stream: string, code: number): Promise<void> {
    const { wire } = this.#streamNamed(stream);
    this.#streams.delete(stream);
    this.#hasEnded = true;
    wire.end(code);
  }

  async pass(ms: number): Promise<void> {
    if (ms > LONGEST_PASS_MS) throw new UnsupportedStep(`${ms} ms pass in memory only`);
    await elapsed(ms);
  }

  async arrive(): Promise<void> {
    throw new UnsupportedStep("responses are judged at once");
  }

  async judged(): Promise<void> {
    throw new UnsupportedStep("responses are judged at once");
  }

  async unchanged(): Promise<void> {
    throw new UnsupportedStep("polls are played in memory only");
  }

  async due(): Promise<void> {
    throw new UnsupportedStep("polls are played in memory only");
  }

  async meet(): Promise<void> {
    throw new UnsupportedStep("servers accept whoever connects");
  }

  async describe(): Promise<void> {
    throw new UnsupportedStep("a client is described once");
  }

  async restore(): Promise<void> {
    throw new UnsupportedStep("what an earlier life kept is restored in memory only");
  }

  async warmed(): Promise<void> {
    throw new UnsupportedStep("what warms is seen in memory only");
  }

  async settle(awaited: ClientAwaited): Promise<readonly ClientObservation[]> {
    await this.#until(() => this.#hasCome(awaited));
    await elapsed(this.#target.pace.quietMs);
    const seen = this.#seen;
    this.#seen = this.#seenEarly;
    this.#seenEarly = [];
    this.#early.clear();
    this.#hasEnded = false;
    return seen;
  }

  async stop(): Promise<void> {
    await this.#client?.stop();
    for (const server of this.#servers) await server.close();
  }

  async #serve(source: PlainSource, server: number): Promise<string> {
    const nameOf = ({ method: { onlyType } }: ScriptedStream): string =>
      streamName({ source: source.id, server, onlyType }, this.#type);
    const scripted = await startScriptedServer({
      opened: (wire) => {
        const stream = nameOf(wire);
        this.#streams.set(stream, { source, wire });
        if (this.#hasEnded) this.#early.add(wire);
        this.#seeOn(wire, { kind: "opened", stream });
      },
      request: (wire, request) => this.#seeOn(wire, requestOn(nameOf(wire), request)),
      closed: (wire) => {
        const stream = nameOf(wire);
        if (this.#streams.get(stream)?.wire !== wire) return;
        this.#streams.delete(stream);
        this.#see({ kind: "closed", stream });
      },
    });
    this.#servers.push(scripted);
    return scripted.address;
  }

  #seeOn(wire: ScriptedStream, observation: ClientObservation): void {
    if (this.#early.has(wire)) this.#seenEarly.push(observation);
    else this.#see(observation);
  }

  #see(observation: ClientObservation): void {
    this.#seen.push(observation);
    this.#wake();
  }

  #streamNamed(name: string): OpenWireServerStream {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw new Error(`the case uses stream ${name}, which is not open`);
    return stream;
  }

  #hasCome({ requests, news, opened, closed }: ClientAwaited): boolean {
    const count = (kind: ClientObservation["kind"]): number => this.#seen.filter((seen) => seen.kind === kind).length;
    return (
      count("request") >= requests && count("news") >= news && count("opened") >= opened && count("closed") >= closed
    );
  }

  async #until(isThere: () => boolean): Promise<void> {
    const deadline = performance.now() + this.#target.pace.deadlineMs;
    while (!isThere()) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

function requestOn(stream: string, request: DiscoveryRequest): ClientObservation {
  return { kind: "request", stream, request, isUrgent: false };
}
