import type { Body, Segment } from "../../message/body.ts";
import type { Node } from "../../node/node.ts";
import type { Resource } from "../../resource/resource.ts";

/** The client feature of clients that accept extension configuration as `TypedStruct` only (requirements 1.7). */
const NEEDS_STRUCTS = "envoy.config.require-any-fields-contain-struct";

/**
 * Returns a resource's bytes for clients that accept no typed extensions; the same array if nothing needs conversion.
 */
export type StructConverter = (resource: Pick<Resource, "type" | "name" | "bytes">) => Uint8Array;

/** Whether resources are converted before they are sent to this node (S-MSC-04). */
export function needsStructs({ clientFeatures }: Node): boolean {
  return clientFeatures.includes(NEEDS_STRUCTS);
}

/**
 * Converts bodies for clients that accept no typed extensions. Each resource, segment and body is converted once and
 * shared by all such clients, so it is also encoded once. Names and versions do not change, so ACKs and diffs work as
 * without conversion.
 */
export class Conversion {
  readonly #convert: StructConverter;
  readonly #resources = new WeakMap<Resource, Resource>();
  readonly #segments = new WeakMap<Segment, Segment>();
  readonly #bodies = new WeakMap<Body, Body>();

  constructor(convert: StructConverter) {
    this.#convert = convert;
  }

  /** The converted body. A body that is already converted, or needs no conversion, is returned as it is. */
  body(body: Body): Body {
    return known(this.#bodies, body, () => {
      const segments = body.segments.map((segment) => this.#segment(segment));
      return segments.every((segment, i) => segment === body.segments[i]) ? body : { ...body, segments };
    });
  }

  #segment(segment: Segment): Segment {
    return known(this.#segments, segment, () => {
      const puts = segment.puts.map((put) => this.#resource(put));
      return puts.every((put, i) => put === segment.puts[i]) ? segment : { ...segment, puts };
    });
  }

  #resource(resource: Resource): Resource {
    return known(this.#resources, resource, () => {
      const bytes = this.#convert(resource);
      return bytes === resource.bytes ? resource : { ...resource, bytes };
    });
  }
}

/** Returns the memoized conversion of `key`; converting a result again returns the result itself. */
function known<K extends object>(map: WeakMap<K, K>, key: K, make: () => K): K {
  const before = map.get(key);
  if (before !== undefined) return before;
  const made = make();
  map.set(key, made);
  map.set(made, made);
  return made;
}
