import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { DeltaRequest, DiscoveryRequest, ServerEffect, SotwRequest } from "@xdskit/protocol/internal";
import type { ModelClient } from "./model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER } from "./resources.ts";
import type { Witness } from "./world.ts";

type Send = Extract<ServerEffect, { kind: "send" }>;

/** One type on one connection of a client, as anybody can see it who hears both sides. */
interface Account {
  /** The version last told of each name; undefined: that it does not exist. */
  readonly told: Map<string, string | undefined>;
  /** The same, even if the client gave the name up meanwhile. */
  readonly said: Map<string, string | undefined>;
  /** Names and aliases to be answered whatever the version. */
  readonly asked: Set<string>;
  /** The names of each response that was not rejected, by nonce. */
  readonly sent: Map<string, readonly string[]>;
  /** Names of rejected responses, each of which may be repeated once: together with a change of another of them. */
  readonly rejected: Set<string>;
  /** Cluster endpoints owed after a change of the cluster, until they are sent. */
  readonly owed: Set<string>;
  /** State of the World: the terms of the newest request, and those that count. */
  listed: ReadonlySet<string>;
  nonce: string | undefined;
  isOpen: boolean;
  isStale: boolean;
  lastContent: string | undefined;
}

const isFullState = (type: TypeUrl): boolean => type === CLUSTER || type === LISTENER;

/** Keeps account of every word, and notes what was said twice without a reason and what is owed. */
export class Ledger implements Witness {
  readonly repetitions: string[] = [];
  readonly #isPerType: boolean;
  readonly #accounts = new Map<ModelClient, Map<TypeUrl, Account>>();
  /** Endpoints of the Clusters that a client was sent. */
  readonly #endpointsOf = new Map<ModelClient, Set<string>>();

  /** `isPerType`: endpoints of a new Cluster may be said again when the Cluster is accepted, for they may have come before it. */
  constructor(isPerType: boolean) {
    this.#isPerType = isPerType;
  }

  connected(client: ModelClient): void {
    this.#accounts.set(client, new Map());
  }

  heard(client: ModelClient, request: DiscoveryRequest): void {
    const type = request.type ?? CLUSTER;
    const account = this.#account(client, type);
    const isFirst = !account.isOpen;
    account.isOpen = true;
    if (this.#isPerType && type === CLUSTER && request.nonce !== undefined && request.error === undefined) {
      const { asked } = this.#account(client, ENDPOINTS);
      for (const name of this.#endpointsOf.get(client) ?? []) asked.add(name);
    }
    if (request.error !== undefined && request.nonce !== undefined) {
      for (const name of account.sent.get(request.nonce) ?? []) account.rejected.add(name);
      account.sent.delete(request.nonce);
    }
    if (request.kind === "delta") hearDelta(account, request, isFirst);
    else hearSotw(account, request, isFirst);
  }

  said(client: ModelClient, { body, nonce }: Send): void {
    const account = this.#account(client, body.type);
    const puts = body.segments.flatMap((segment) => segment.puts);
    const gone = body.segments.flatMap((segment) => [...segment.removed, ...segment.missing]);
    const isWhole = body.variant === "sotw" && isFullState(body.type);
    const repeated = isWhole ? repeatedContent(account, puts) : repeatedNames(account, puts, gone);
    if (repeated.length > 0) this.repetitions.push(`${body.variant} ${body.type}: ${repeated.join()}`);
    if (body.type === CLUSTER) this.#owe(client, account, puts);
    for (const words of [account.told, account.said]) {
      if (isWhole) words.clear();
      for (const put of puts) words.set(put.name, put.version);
      for (const name of gone) words.set(name, undefined);
    }
    account.sent.set(nonce, [...puts.map(({ name }) => name), ...gone]);
    for (const name of [...puts.flatMap((put) => [put.name, ...put.aliases]), ...gone]) {
      account.rejected.delete(name);
      account.owed.delete(name);
      if (!account.isStale) account.asked.delete(name);
    }
    if (isWhole && !account.isStale) account.asked.clear();
    account.nonce = nonce;
  }

  /** A State of the World client is not told that something is gone; that it came again is news all the same. */
  held(client: ModelClient, type: TypeUrl, names: ReadonlySet<string>): void {
    if (client.variant === "delta" || isFullState(type)) return;
    const { told } = this.#account(client, type);
    for (const name of told.keys()) if (!names.has(name)) told.delete(name);
  }

  /** Endpoints that a client still waits for. */
  owedTo(client: ModelClient): ReadonlySet<string> {
    return this.#account(client, ENDPOINTS).owed;
  }

  #owe(client: ModelClient, clusters: Account, puts: readonly Resource[]): void {
    const endpoints = this.#account(client, ENDPOINTS);
    const ofClusters = this.#endpointsOf.get(client) ?? new Set();
    this.#endpointsOf.set(client, ofClusters);
    for (const { references } of puts) for (const { name } of references) ofClusters.add(name);
    for (const { name, version, aliases, references } of puts) {
      // Clusters that are asked for again are followed by their endpoints too, but nobody has to wait for those.
      const isAsked = clusters.rejected.has(name) || [name, ...aliases].some((term) => clusters.asked.has(term));
      for (const reference of references) {
        if (isAsked || clusters.told.get(name) !== version) endpoints.asked.add(reference.name);
        if (clusters.said.get(name) !== version) endpoints.owed.add(reference.name);
      }
    }
  }

  #account(client: ModelClient, type: TypeUrl): Account {
    const accounts = this.#accounts.get(client) ?? new Map<TypeUrl, Account>();
    const known = accounts.get(type);
    if (known !== undefined) return known;
    const account: Account = {
      told: new Map(),
      said: new Map(),
      asked: new Set(),
      sent: new Map(),
      rejected: new Set(),
      owed: new Set(),
      listed: new Set(),
      nonce: undefined,
      isOpen: false,
      isStale: false,
      lastContent: undefined,
    };
    accounts.set(type, account);
    return account;
  }
}

function hearDelta(account: Account, request: DeltaRequest, isFirst: boolean): void {
  const { subscribe, unsubscribe, initialVersions } = request;
  // Endpoints may be wanted anew by whoever comes back; anything else that it reports is known to it.
  for (const [name, version] of isFirst && request.type !== ENDPOINTS ? initialVersions : []) {
    for (const words of [account.told, account.said]) words.set(name, version);
  }
  for (const name of subscribe) {
    if (name === "*") account.told.clear();
    if (!isFirst) account.asked.add(name);
  }
  for (const name of unsubscribe) {
    if (name === "*") account.told.clear();
    account.told.delete(name);
    account.asked.add(name);
  }
}

function hearSotw(account: Account, { names, nonce }: SotwRequest, isFirst: boolean): void {
  const listed = new Set(names);
  account.isStale = !isFirst && nonce !== undefined && nonce !== account.nonce;
  for (const name of listed) if (!account.listed.has(name)) account.asked.add(name);
  for (const name of account.listed) if (!listed.has(name)) account.told.delete(name);
  if (listed.has("*") !== account.listed.has("*")) account.told.clear();
  account.listed = listed;
}

/** Names at the version last told, for which nobody asked, and that were not rejected. */
function repeatedNames(
  { told, asked, rejected }: Account,
  puts: readonly Resource[],
  gone: readonly string[],
): readonly string[] {
  const repeated = puts.filter(
    ({ name, version, aliases }) => told.get(name) === version && ![name, ...aliases].some((term) => asked.has(term)),
  );
  const repeatedlyGone = gone.filter((name) => told.has(name) && told.get(name) === undefined && !asked.has(name));
  return [...repeated.map(({ name }) => name), ...repeatedlyGone].filter((name) => !rejected.has(name));
}

/** Everything, if it is what was sent before and nothing was asked for since. */
function repeatedContent(account: Account, puts: readonly Resource[]): readonly string[] {
  const content = puts
    .map(({ name, version }) => `${name} ${version}`)
    .sort()
    .join();
  const isRepeated = content === account.lastContent && account.asked.size === 0;
  account.lastContent = content;
  return isRepeated ? [content] : [];
}
