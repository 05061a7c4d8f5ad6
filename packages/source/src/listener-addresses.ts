import { setImmediate } from "node:timers/promises";
import { type EnvoyApi, MalformedMessageError } from "@xdskit/envoy-api";
import type { Resource, TypeUrl } from "@xdskit/protocol";
import { quote } from "@xdskit/protocol/internal";
import type { DecodedResource } from "./decoded-resource.ts";
import { entryOf } from "./document/places.ts";
import { type FileChunk, rememberFor } from "./file-chunks.ts";
import type { CrossProblem, LayerFile, Origin } from "./file-content.ts";

/** The longest time to check without a pause for other work, in milliseconds. */
const PAUSE_AFTER_MS = 15;

/** The address that a listener binds. One client cannot have two equal ones. */
interface BoundAddress {
  readonly host: string;
  readonly port: number;
  readonly protocol: string;
}

interface Holder {
  readonly file: LayerFile;
  readonly resource: Resource;
  readonly place: DecodedResource["place"];
  readonly address: BoundAddress;
}

interface PlacedListener {
  readonly file: LayerFile;
  readonly decoded: DecodedResource;
}

/** The listeners of one type in one layer. */
interface LayerListeners {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly names: Set<string>;
  readonly byAddress: Map<string, Holder[]>;
}

/**
 * Warns of listeners in one view with the same address: a client rejects the second. Checks what certainly shares a
 * view: each layer by itself, and `base` with each other layer that does not replace the listener. Remembers the
 * addresses of unchanged listeners.
 */
export class ListenerAddresses {
  readonly #api: EnvoyApi;
  readonly #addresses = new WeakMap<Resource, BoundAddress | undefined>();
  readonly #listenersOf: (chunk: FileChunk) => readonly PlacedListener[];

  constructor(api: EnvoyApi) {
    this.#api = api;
    const listenerTypes = new Set(
      api.types
        .filter(({ kind }) => kind === "lds")
        .flatMap(({ type, v2Twin }) => (v2Twin === undefined ? [type] : [type, v2Twin])),
    );
    this.#listenersOf = rememberFor(({ files }) => {
      const listeners: PlacedListener[] = [];
      for (const file of files)
        for (const decoded of file.content.resources)
          if (listenerTypes.has(decoded.resource.type)) listeners.push({ file, decoded });
      return listeners;
    });
  }

  /** The problems of the listeners in these files, in order. Pauses for other work between listeners. */
  async check(chunks: readonly FileChunk[]): Promise<readonly CrossProblem[]> {
    let pausedAt = performance.now();
    const problems: CrossProblem[] = [];
    for (const _ of this.#steps(chunks, problems)) {
      if (performance.now() - pausedAt < PAUSE_AFTER_MS) continue;
      await setImmediate();
      pausedAt = performance.now();
    }
    return problems;
  }

  /** The same at once. */
  checkNow(chunks: readonly FileChunk[]): readonly CrossProblem[] {
    const problems: CrossProblem[] = [];
    for (const _ of this.#steps(chunks, problems));
    return problems;
  }

  /** A step for each listener. */
  *#steps(chunks: readonly FileChunk[], problems: CrossProblem[]): Iterable<undefined> {
    const layers = new Map<string, LayerListeners>();
    for (const chunk of chunks) {
      for (const { file, decoded } of this.#listenersOf(chunk)) {
        this.#add(layers, file, decoded, problems);
        yield undefined;
      }
    }
    for (const upper of layers.values()) {
      const base = upper.layer === "base" ? undefined : layers.get(keyOf("base", upper.type));
      if (base !== undefined) for (const problem of compare(upper, base)) problems.push(problem);
    }
  }

  #add(
    layers: Map<string, LayerListeners>,
    file: LayerFile,
    { resource, place }: DecodedResource,
    problems: CrossProblem[],
  ): void {
    const { type, name } = resource;
    // Which xdstp listeners a client requests together is unknown.
    if (name.startsWith("xdstp:")) return;
    const key = keyOf(file.layer, type);
    const known = layers.get(key) ?? { layer: file.layer, type, names: new Set(), byAddress: new Map() };
    layers.set(key, known);
    known.names.add(name);
    const address = this.#addressOf(resource);
    if (address === undefined) return;
    const text = `${address.protocol} ${address.host} ${address.port}`;
    const holders = known.byAddress.get(text) ?? [];
    known.byAddress.set(text, holders);
    const [first] = holders;
    const second = { file, resource, place, address };
    // Equal names are already reported.
    if (first !== undefined && first.resource.name !== name) problems.push(duplicate(first, second));
    holders.push(second);
  }

  #addressOf(resource: Resource): BoundAddress | undefined {
    if (this.#addresses.has(resource)) return this.#addresses.get(resource);
    const address = this.#readAddress(resource);
    this.#addresses.set(resource, address);
    return address;
  }

  #readAddress({ type, bytes }: Resource): BoundAddress | undefined {
    let listener: unknown;
    try {
      listener = this.#api.toJson(type, bytes, { names: "proto" });
    } catch (error) {
      if (error instanceof MalformedMessageError) return undefined; // reported when the file was read
      throw error;
    }
    return entryOf(listener, "api_listener") === undefined ? boundAddress(entryOf(listener, "address")) : undefined;
  }
}

/** Undefined for pipes, internal listeners, and ports that the system chooses. */
function boundAddress(address: unknown): BoundAddress | undefined {
  const socket = entryOf(address, "socket_address");
  const host = entryOf(socket, "address");
  const port = entryOf(socket, "port_value");
  const protocol = entryOf(socket, "protocol") ?? "TCP";
  if (typeof host !== "string" || typeof port !== "number" || port === 0 || typeof protocol !== "string")
    return undefined;
  return { host, port, protocol };
}

function keyOf(layer: string, type: TypeUrl): string {
  return `${layer} ${type}`;
}

/** The listeners of an upper layer at the address of a `base` listener that they do not replace. */
function compare(upper: LayerListeners, base: LayerListeners): readonly CrossProblem[] {
  const problems: CrossProblem[] = [];
  for (const [address, [second]] of upper.byAddress) {
    const first = base.byAddress.get(address)?.find(({ resource }) => !upper.names.has(resource.name));
    if (first !== undefined && second !== undefined) problems.push(duplicate(first, second));
  }
  return problems;
}

function duplicate(first: Holder, second: Holder): CrossProblem {
  const { host, port, protocol } = second.address;
  const bound = `${host.includes(":") ? `[${host}]` : host}:${port}${protocol === "TCP" ? "" : ` (${protocol})`}`;
  const names = [second, first].map(({ resource }) => quote(resource.name));
  return {
    code: "LISTENER_ADDRESS_DUPLICATE",
    severity: "warning",
    message: `Listener ${names[0]} has the address ${quote(bound).slice(1, -1)} of Listener ${names[1]}: Envoy refuses the second`,
    hint: "give one of them another port, or let no node see both, with layers of groups or nodes",
    at: originOf(second, host),
    related: originOf(first, host),
  };
}

function originOf({ file, place }: Holder, text: string): Origin {
  return { file, place, text };
}
