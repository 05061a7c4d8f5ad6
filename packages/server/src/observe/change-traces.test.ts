import { context, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { formatTypeUrl } from "@xdskit/protocol";
import { afterEach, expect, test, vi } from "vitest";
import type { PublishResult } from "../ledger/publication.ts";
import { ChangeTraces, type ChangeTracesOptions } from "./change-traces.ts";

const typesOf = () => [formatTypeUrl("envoy.config.cluster.v3.Cluster")];
const unused = (): never => {
  throw new Error("this is for traces only");
};

afterEach(() => {
  vi.useRealTimers();
  trace.disable();
  context.disable();
});

/** Changes that no client ever settles, and what was listened to. */
function pending(): { readonly options: ChangeTracesOptions; readonly listening: Set<string>; commit(): number } {
  const listening = new Set<string>();
  let revision = 0;
  const on = (kind: string): (() => void) => {
    listening.add(kind);
    return () => void listening.delete(kind);
  };
  const whenSettled = (_revision: number, _nodes: unknown, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => void signal.addEventListener("abort", () => resolve()));
  const progress = () => ({ revision, nodes: 1, deployed: 0, pending: [{}], nacked: [], disconnected: [] });
  return {
    options: {
      listeners: { on } as never,
      deployments: { whenSettled, progress } as never,
      ...{ revision: () => revision, isLiveType: () => false, failed: unused },
    },
    listening,
    commit: () => ++revision,
  };
}

function register(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  return exporter;
}

/** Revision, outcome and end of the deliveries that ended. */
function deliveries(exporter: InMemorySpanExporter): unknown {
  const spans = exporter.getFinishedSpans().filter(({ name }) => name === "xds.deliver");
  return spans.map(({ attributes, duration: [seconds] }) => [
    attributes["xds.revision"],
    attributes["xds.deliver.end"],
    attributes["xds.nodes.pending"],
    seconds,
  ]);
}

test("without an SDK nothing is listened to, and nothing else happens than the change", async () => {
  const traces = new ChangeTraces({
    listeners: { on: unused } as never,
    deployments: { whenSettled: unused } as never,
    ...{ revision: unused, isLiveType: unused, failed: unused },
  });
  const result = Promise.resolve<PublishResult>({ kind: "applied", number: 1, revision: 1 });
  const about = { kind: "publish", author: undefined, message: undefined, reading: undefined, isLive: unused } as const;
  expect(traces.operation(about, () => result)).toBe(result);
  expect(traces.plain({ kind: "commit", typesOf }, () => 7)).toBe(7);
  await result;
});

test("a change is followed for a minute, and then nothing is listened to any more", async () => {
  vi.useFakeTimers();
  const exporter = register();
  const { options, listening, commit } = pending();
  const traces = new ChangeTraces(options);
  traces.plain({ kind: "commit", typesOf }, commit);
  expect([...listening]).toEqual(["response-nacked"]);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(deliveries(exporter)).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect([deliveries(exporter), [...listening]]).toEqual([[[1, "timeout", 1, 60]], []]);
});

test("ten traces a second begin, of which the next one tells, and one more than sixteen ends the oldest", async () => {
  vi.useFakeTimers();
  const exporter = register();
  const { options, commit } = pending();
  const traces = new ChangeTraces(options);
  const change = (): number => traces.plain({ kind: "commit", typesOf }, commit);
  for (let i = 0; i < 12; i++) change();
  await vi.advanceTimersByTimeAsync(1_000);
  for (let i = 0; i < 6; i++) change();
  await vi.advanceTimersByTimeAsync(0);
  expect(deliveries(exporter)).toEqual([]);
  change();
  await vi.advanceTimersByTimeAsync(0);
  expect(deliveries(exporter)).toEqual([[1, "superseded", 1, 1]]);
  await vi.advanceTimersByTimeAsync(60_000);
  const changes = exporter.getFinishedSpans().filter(({ name }) => name === "xds.change");
  const untraced = changes.map(({ attributes }) => attributes["xds.change.untraced_before"]);
  expect([changes.length, untraced.filter((count) => count !== undefined)]).toEqual([17, [2]]);
});

test("what an SDK throws is reported, and the change goes on", async () => {
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan: () => {
        throw new Error("the SDK is broken");
      },
      startActiveSpan: unused,
    }),
  });
  const failures: unknown[] = [];
  const { options, commit } = pending();
  const traces = new ChangeTraces({ ...options, failed: (error) => failures.push(String(error)) });
  expect(traces.plain({ kind: "commit", typesOf }, commit)).toBe(1);
  const held: PublishResult = { kind: "held", number: 1, trips: [] };
  const about = { kind: "publish", author: undefined, message: undefined, reading: undefined, isLive: unused } as const;
  expect(await traces.operation(about, async () => held)).toBe(held);
  await vi.waitFor(() => expect(failures).toHaveLength(2));
  expect(failures).toEqual(["Error: the SDK is broken", "Error: the SDK is broken"]);
});
