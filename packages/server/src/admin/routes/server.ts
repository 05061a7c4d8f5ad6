import { problemCounts } from "@xdskit/source/checks";
import type { MissingContent } from "../../hub/missing-resources.ts";
import type { StoreState } from "../../ledger/store-state.ts";
import { isExpiring } from "../../observe/certificate-end.ts";
import { printable } from "../../observe/printable.ts";
import { residentBytes } from "../../observe/process-memory.ts";
import type { SourceProblem } from "../../observe/source-status.ts";
import type { ResourcePlace } from "../../source-places.ts";
import type {
  ExpiringAnswer,
  LayerAnswer,
  LimitAnswer,
  MissingAnswer,
  ReplicasAnswer,
  ServerAnswer,
  SourceAnswer,
  StoreAnswer,
  WorkerAnswer,
} from "../answers/server.ts";
import type { Describer } from "../describe.ts";
import { describeReplicas } from "../describe-replicas.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { layersAnswer, replicasAnswer, serverAnswer, sourceAnswer } from "../schema/server.ts";
import type { AdminView } from "../view.ts";
import { describeRecord } from "./revisions.ts";

/** The version, uptime and load of the server. */
export const server: Route = {
  path: "/api/v1/server",
  says: "version, readiness, revision, limits and their use",
  parameters: {},
  answers: { 200: serverAnswer },
  answer: async ({ view, describe }) => ({ kind: "json", value: await describeServer(view, describe) }),
};

/** How many missing resources are named. */
const MISSING_NAMED = 20;
/** How many of the endpoints that became empty are named. */
const EMPTIED_NAMED = 20;
/** How many deletions that wait are named. */
const WAITING_NAMED = 20;

/** Where resources are in the source, as far as that is known. */
async function placesOf(
  { placesOf: find }: AdminView,
  asked: readonly MissingContent[],
): Promise<readonly (ResourcePlace | undefined)[]> {
  if (find === undefined || asked.length === 0) return [];
  return await find(asked.map(({ layer, type, name }) => ({ layers: [layer], type, name })));
}

async function describeLedger(view: AdminView, describe: Describer): Promise<ServerAnswer["ledger"]> {
  const ledger = view.ledger();
  if (ledger === undefined) return undefined;
  const { number, held, missing, waiting, emptied } = ledger;
  const named = ({ layer, type, name }: MissingContent): MissingAnswer => ({ layer, ...describe.type(type), name });
  const store = view.store();
  const shown = emptied.slice(0, EMPTIED_NAMED);
  const places = await placesOf(view, shown);
  const inMemoryReason = view.inMemoryReason();
  return {
    number,
    ...(inMemoryReason !== undefined && { inMemoryReason }),
    ...(store !== undefined && { store: describeStore(store) }),
    ...(held !== undefined && { held: await describeRecord(ledger, held) }),
    missing: { total: missing.length, resources: missing.slice(0, MISSING_NAMED).map(named) },
    ...(waiting.length > 0 && {
      waiting: { total: waiting.length, deletions: waiting.slice(0, WAITING_NAMED).map(named) },
    }),
    ...(emptied.length > 0 && {
      emptied: {
        total: emptied.length,
        resources: shown.map((one, index) => {
          return { ...named(one), number: one.number, until: one.until.toISOString(), ...places[index] };
        }),
      },
    }),
  };
}

function describeStore({ role, roleSince, head, lag, lagSince, outage, copy, stop }: StoreState): StoreAnswer {
  return {
    ...{ role, roleSince: roleSince.toISOString(), head, lag },
    ...(lagSince !== undefined && { lagSince: lagSince.toISOString() }),
    ...(outage !== undefined && { awaySince: outage.since.toISOString(), awayReason: outage.reason }),
    ...(copy !== undefined && {
      copy: {
        ...{ number: copy.number, inPlace: copy.isInPlace },
        ...(copy.problem !== undefined && { problem: copy.problem }),
      },
    }),
    ...(stop !== undefined && { stoppedSince: stop.since.toISOString(), stopReason: stop.reason }),
  };
}

/** How many certificates are named. */
const EXPIRING_NAMED = 20;

async function describeExpiring(view: AdminView, describe: Describer): Promise<ServerAnswer["expiring"]> {
  const now = Date.now();
  const expiring = (await view.certificates()).filter((end) => isExpiring(end, now));
  if (expiring.length === 0) return undefined;
  const named = expiring.slice(0, EXPIRING_NAMED);
  const secrets = named.flatMap(({ secret }) => secret ?? []);
  const found = await placesOf(view, secrets);
  const places = new Map(secrets.map((secret, index) => [secret, found[index]]));
  const certificates = named.map(({ use, file, secret, subject, validToMs }): ExpiringAnswer => {
    const place = secret === undefined ? undefined : places.get(secret);
    return {
      use,
      ...(file !== undefined && { file }),
      ...place,
      ...(secret !== undefined && { layer: secret.layer, ...describe.type(secret.type), name: secret.name }),
      ...{ subject: printable(subject, MAX_SUBJECT), expiresAt: new Date(validToMs).toISOString() },
      isExpired: validToMs <= now,
    };
  });
  return { total: expiring.length, certificates };
}

/** How many characters of a subject are shown. */
const MAX_SUBJECT = 200;

async function describeServer(view: AdminView, describe: Describer): Promise<ServerAnswer> {
  const ledger = await describeLedger(view, describe);
  const { isReady, isDraining, reasons } = view.readiness();
  const { state, since, problems } = view.source();
  const differs = await view.ledger()?.sourceDifference();
  const address = view.address();
  const all = await readUsage(view);
  const expiring = await describeExpiring(view, describe);
  const heldTrust = view.heldTrust().map((held) => ({ ...held, since: held.since.toISOString() }));
  return {
    version: view.version,
    controlPlane: view.controlPlane,
    ...(address !== undefined && { address }),
    startedAt: view.startedAt.toISOString(),
    uptimeSeconds: Math.round((Date.now() - view.startedAt.getTime()) / 1000),
    revision: view.head(),
    ready: isReady,
    draining: isDraining,
    reasons,
    connections: all.connections,
    streams: all.streams,
    source: {
      ...{ state, since: since.toISOString(), ...problemCounts(problems) },
      ...(differs !== undefined && { differs }),
    },
    ...(ledger !== undefined && { ledger }),
    ...(heldTrust.length > 0 && { heldTrust }),
    ...(expiring !== undefined && { expiring }),
    limits: all.limits,
    writes: all.writes,
    encoder: all.encoder,
    ...(all.workers !== undefined && { workers: all.workers }),
    process: { pid: process.pid, node: process.version, residentBytes: residentBytes() },
  };
}

/** What the clients of all processes use. */
async function readUsage(view: AdminView): Promise<ServerUsage> {
  const asked = await view.workers?.askEach("usage", {});
  const own = {
    connections: view.connections(),
    streams: view.openStreams(),
    writes: view.writes(),
    encoder: view.encoder(),
    limits: view.limits(),
  };
  const all = [own, ...(asked ?? []).map(({ answer }) => answer)];
  const sum = (numberOf: (usage: (typeof all)[number]) => number): number =>
    all.reduce((total, usage) => total + numberOf(usage), 0);
  const limits = own.limits.map(({ name, value: valueHere, used }): LimitAnswer => {
    const ofAll = all.flatMap((usage) => usage.limits.filter((limit) => limit.name === name));
    const most = Math.max(...ofAll.map((limit) => limit.used ?? 0));
    const hits = ofAll.reduce((total, limit) => total + limit.hits, 0);
    // Workers enforce the limits, with the settings of the newest SIGHUP.
    const value = ofAll.at(-1)?.value ?? valueHere;
    return { name, value, ...(used !== undefined && { used: most }), hits };
  });
  const shown = view.workers?.describe().map(({ worker, pid, state, startedAt, connections }): WorkerAnswer => {
    const usage = asked?.find((one) => one.worker === worker)?.answer;
    const { streams = 0, residentBytes = 0 } = usage ?? {};
    return {
      ...{ worker, state, connections, streams, residentBytes },
      ...(pid !== undefined && { pid }),
      ...(startedAt !== undefined && { startedAt: startedAt.toISOString() }),
    };
  });
  return {
    connections: sum((usage) => usage.connections),
    streams: sum((usage) => usage.streams),
    writes: {
      stalledStreams: sum(({ writes }) => writes.stalledStreams),
      bufferedBytes: sum(({ writes }) => writes.bufferedBytes),
    },
    encoder: {
      segmentsEncoded: sum(({ encoder }) => encoder.segmentsEncoded),
      framesEncoded: sum(({ encoder }) => encoder.framesEncoded),
      bodiesEncoded: sum(({ encoder }) => encoder.bodiesEncoded),
      bytesEncoded: sum(({ encoder }) => encoder.bytesEncoded),
    },
    limits,
    workers: shown,
  };
}

interface ServerUsage extends Pick<ServerAnswer, "connections" | "streams" | "writes" | "encoder" | "limits"> {
  readonly workers: readonly WorkerAnswer[] | undefined;
}

/** The servers that follow the same store. */
export const replicas: Route = {
  path: "/api/v1/replicas",
  says: "servers that follow the same store, and how far each is",
  parameters: {},
  answers: { 200: replicasAnswer },
  answer: async ({ view }) => ({ kind: "json", value: await listReplicas(view) }),
};

/** This server alone if the others cannot be asked for. */
async function listReplicas(view: AdminView): Promise<ReplicasAnswer> {
  const { replicas: known } = view;
  const head = view.store()?.head ?? 0;
  if (known === undefined) return describeReplicas({ replicas: [], lost: [] }, head);
  const alone = async (problem: string): Promise<ReplicasAnswer> =>
    describeReplicas({ replicas: [await known.own()], lost: [] }, head, problem);
  const outage = view.store()?.outage;
  if (outage !== undefined) return await alone(outage.reason);
  try {
    return describeReplicas(await known.list(), head);
  } catch (cause) {
    return await alone(cause instanceof Error ? cause.message : String(cause));
  }
}

/** The layers and their types. */
export const layers: Route = {
  path: "/api/v1/layers",
  says: "layers, with their numbers of resources",
  parameters: pageParameters,
  kinds: pageKinds,
  answers: { 200: layersAnswer },
  answer: ({ view, describe }, query) => {
    function* steps(): Iterable<Step> {
      for (const { name, types } of view.layers()) {
        yield (): LayerAnswer => ({
          name,
          types: [...types].map(([type, { resources, version, changedAt }]) => ({
            ...describe.type(type),
            resources,
            version,
            changedAt,
          })),
        });
      }
    }
    return page(query, steps());
  },
};

const MAX_PROBLEMS = 1000;

/** Errors first, and at most 1,000: 100,000 resources may have as many warnings. */
function worstFirst(problems: readonly SourceProblem[]): readonly SourceProblem[] {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length >= MAX_PROBLEMS) return errors.slice(0, MAX_PROBLEMS);
  const warnings = problems.filter(({ severity }) => severity === "warning");
  return [...errors, ...warnings.slice(0, MAX_PROBLEMS - errors.length)];
}

/** The state of the source of resources. */
export const source: Route = {
  path: "/api/v1/source",
  says: "state of the source, and its problems",
  parameters: {},
  answers: { 200: sourceAnswer },
  answer({ view }) {
    const { state, since, problems } = view.source();
    const { errors, warnings } = problemCounts(problems);
    const value: SourceAnswer = {
      state,
      since: since.toISOString(),
      problems: worstFirst(problems),
      total: errors + warnings,
    };
    return { kind: "json", value };
  },
};
