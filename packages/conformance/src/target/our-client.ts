import { type Change, createXdsClient, type ResourceValidator, type XdsClient, type XdsResource } from "@xdskit/client";
import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { type FailureReason, type HeldResource, parseLocated, type WatchEvent } from "@xdskit/protocol/internal";
import { typesOfV3, urlOf } from "../content/catalog.ts";
import type { PlainWatch } from "../play/client/driver.ts";
import { REFUSED } from "../play/client/encoded.ts";
import { termOf } from "../play/client/term.ts";
import { UnsupportedStep } from "../play/driver.ts";
import type { ClientTarget, ReachableSource, RunningClient } from "./client-target.ts";

/** This repository's client, in this process, over loopback. */
export function createOurClient(): ClientTarget {
  const api = createEnvoyApi();
  return {
    name: "our-client",
    pace: { deadlineMs: 5_000, quietMs: 15 },
    start: (sources) => start(api, sources),
    async [Symbol.asyncDispose]() {},
  };
}

async function start(api: EnvoyApi, sources: readonly ReachableSource[]): Promise<RunningClient> {
  const [source] = sources;
  if (source === undefined || sources.length > 1)
    throw new UnsupportedStep("there is one source of servers by address");
  if (source.nodeIn === "every-request") throw new UnsupportedStep("the node is told in first requests");
  const { variant, kind, edition, dialect, absenceMs, rateLimit, addresses } = source;
  const client = await createXdsClient({
    api,
    server: addresses,
    node: "n1",
    transport: { variant, isAggregated: kind === "ads" },
    validation: { clientPgv: false, validators },
    ...(edition !== undefined && { edition }),
    ...(dialect !== undefined && { dialect }),
    limits: {
      ...(absenceMs !== undefined && { initialFetchTimeoutMs: absenceMs }),
      ...(rateLimit !== undefined && { rateLimit }),
    },
  });
  return { watch: (watch, listener) => openWatch(client, watch, listener), stop: () => client.close() };
}

/** Rejects content that contains `REFUSED`. */
const validators: readonly ResourceValidator[] = typesOfV3.map((type) => ({
  type: urlOf(type),
  check: ({ name, bytes }) => (Buffer.from(bytes).includes(REFUSED) ? `${name} is ${REFUSED}` : undefined),
}));

function openWatch(client: XdsClient, { type, term }: PlainWatch, listener: (news: WatchEvent) => void): () => void {
  const located = parseLocated(termOf(term));
  const name = located?.name ?? term;
  const watch = client.watch(urlOf(type), name === "*" ? undefined : name, {
    onChange: (change) => listener(newsOf(change, urlOf(type))),
    ...(located !== undefined && { parameters: Object.fromEntries(located.parameters) }),
  });
  return () => watch.close();
}

function newsOf(change: Change, type: TypeUrl): WatchEvent {
  switch (change.kind) {
    case "added":
    case "changed":
      return { kind: "changed", name: change.key, resource: heldOf(change.resource, type) };
    case "does-not-exist": {
      const { key: name, reason: why, held } = change;
      return { kind: "absent", name, why, held: held && heldOf(held, type) };
    }
    case "error": {
      const { key: name, held, error } = change;
      const status = error.cause as { readonly code: number; readonly message: string };
      return { kind: "failed", name, why: reasonOf(error.code), error: status, held: held && heldOf(held, type) };
    }
    case "synced":
    case "recovered":
      return { kind: change.kind };
    default:
      throw new Error(`there is no such change: ${JSON.stringify(change satisfies never)}`);
  }
}

function heldOf({ key: name, aliases, version, bytes, isRestored }: XdsResource, type: TypeUrl): HeldResource {
  const restored = isRestored ? ({ isRestored } as const) : {};
  return { type, name, aliases, version, bytes, ttlMs: undefined, ...restored };
}

function reasonOf(code: string): FailureReason {
  const reason = reasons.get(code);
  if (reason === undefined) throw new Error(`a watch is told of ${code}, which is none of its errors`);
  return reason;
}

const reasons: ReadonlyMap<string, FailureReason> = new Map([
  ["REJECTED", "rejected"],
  ["RESOURCE_ERROR", "resource-error"],
  ["UNREACHABLE", "unreachable"],
  ["TYPE_UNSUPPORTED", "unreachable"],
  ["TIMEOUT", "timeout"],
]);
