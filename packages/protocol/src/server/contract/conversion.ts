import type { Body, Segment } from "../../message/body.ts";
import type { Node } from "../../node/node.ts";
import type { Resource } from "../../resource/resource.ts";

/** Of a client that takes extensions as `TypedStruct` only (requirements 1.7). */
const NEEDS_STRUCTS = "envoy.config.require-any-fields-contain-struct";

/** The bytes of a resource for clients that take no typed extensions; the same bytes where there is nothing to convert. */
export type StructConverter = (resource: Pick<Resource, "type" | "name" | "bytes">) => Uint8Array;

/** Whether what is sent to a client is converted first (S-MSC-04). */
export function needsStructs({ clientFeatures }: Node): boolean {
  return clientFeatures.includes(NEEDS_STRUCTS);
}

/**
 * Bodies for clients that take no typed extensions. Each resource is converted once, and each segment and body is one object for
 * all such clients, so that it is encoded once. Names and versions stay: nothing behind the conversion can tell the difference.
 */
export class Conversion {
  readonly #convert: StructConverter;
  readonly #resources = new WeakMap<Resource, Resource>();
  readonly #segments = new WeakMap<Segment, Segment>();
  readonly #bodies = new WeakMap<Body, Body>();

  constructor(convert: StructConverter) {
    this.#convert = convert;
  }

  /** The body as it is sent; what was converted stays as it is. */
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

/** What is made of something; of what was made, that itself. */
function known<K extends object>(map: WeakMap<K, K>, key: K, make: () => K): K {
  const before = map.get(key);
  if (before !== undefined) return before;
  const made = make();
  map.set(key, made);
  map.set(made, made);
  return made;
}
