import type { EnvoyApi } from "@xdskit/envoy-api";
import { type Dependency, isOfV2, type SourceId, type TypeUrl, typeInName } from "@xdskit/protocol";
import { alternativesOf, authorityFor, isOfGrpc, type NameAtSource } from "../config/authority.ts";
import type { AuthoritySource, ClientConfig, SourceConfig } from "../config/client-config.ts";
import type { ConfigDefaults } from "../config/config-defaults.ts";
import { resolveConfigSource } from "../config/resolve-config-source.ts";
import { kindOf } from "../resource/kind-of.ts";
import { sourceOf } from "../routing/route.ts";
import { type MeshSource, STATIC_SOURCE, type StaticResources } from "./static-source.ts";

/** What the sources of a mesh are found by. */
export interface MeshSourcesParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** What holds where a config source in a resource says nothing. */
  readonly defaults: ConfigDefaults;
  readonly statics: StaticResources;
}

/** A name that is to be found. */
export interface Placed {
  readonly type: TypeUrl;
  readonly name: string;
  /** It was said where it is, so its authority says nothing. */
  readonly isThere: boolean;
}

/** Where a mesh has its resources from: what config sources in resources come to, by their ids. */
export class MeshSources {
  readonly #api: EnvoyApi;
  readonly #config: ClientConfig;
  readonly #defaults: ConfigDefaults;
  readonly #statics: StaticResources;
  readonly #known = new Map<SourceId, SourceConfig>();

  constructor({ api, config, defaults, statics }: MeshSourcesParts) {
    this.#api = api;
    this.#config = config;
    this.#defaults = defaults;
    this.#statics = statics;
  }

  add(source: MeshSource): SourceId {
    if (source.kind !== "static") this.#known.set(source.id, source);
    return source.id;
  }

  /** Undefined of what stands in the bootstrap: nobody is asked for that. */
  get(id: SourceId): SourceConfig | undefined {
    return this.#known.get(id);
  }

  /** Where a dependency of a resource that came from `from` is asked for; undefined: nowhere. */
  resolve({ source, type, name }: Dependency, from: SourceId): SourceId | undefined {
    if (source.kind === "static" || this.#statics.owns(type, name)) return STATIC_SOURCE;
    const self = this.#known.get(from);
    const found = this.#find(source, type, name, self);
    return found && this.add(found);
  }

  /**
   * The places of a name that was asked for at `from`, or that something which came from there leads to, the best first: alternatives follow
   * (C-XTP-11).
   */
  placesOf({ type, name, isThere }: Placed, from: SourceId): readonly NameAtSource[] {
    const own = isThere ? this.#known.get(from) : this.#nextTo(from, type, name);
    const places = own === undefined ? [] : [{ source: own, name }];
    const others = alternativesOf(name).flatMap((other) => {
      const source = this.#nextTo(from, type, other);
      return source === undefined ? [] : [{ source, name: other }];
    });
    return [...places, ...others];
  }

  #nextTo(from: SourceId, type: TypeUrl, name: string): SourceConfig | undefined {
    return this.#find({ kind: "self" }, type, name, this.#known.get(from));
  }

  #find(
    source: Dependency["source"],
    type: TypeUrl,
    name: string,
    self: SourceConfig | undefined,
  ): SourceConfig | undefined {
    switch (source.kind) {
      case "ads":
        return this.#forName(name, this.#config.ads && plain(this.#config.ads));
      case "self":
        return this.#forName(name, self && plain(self));
      case "api":
      case "path": {
        const version = isOfV2(type) ? "v2" : "v3";
        const site = { api: this.#api, config: this.#config, defaults: this.#defaults, self, type, version } as const;
        const { resolved } = resolveConfigSource(source.bytes, site);
        return this.#forName(name, resolved);
      }
      case "roots":
        return sourceOf(this.#config, kindOf(type, this.#api), name);
      case "parent":
      case "static":
        return undefined;
      default:
        return source satisfies never;
    }
  }

  /**
   * An xdstp name is asked for where its authority is (C-XTP-08); where nothing is told of that, it stays where it was said to be. Clients of gRPC
   * ask nobody then (A47).
   */
  #forName(name: string, said: AuthoritySource | undefined): SourceConfig | undefined {
    if (typeInName(name) === undefined) return said?.source;
    return authorityFor(name, this.#config, said) ?? (isOfGrpc(this.#config) ? undefined : said?.source);
  }
}

function plain(source: SourceConfig): AuthoritySource {
  return { authorities: [], source };
}
