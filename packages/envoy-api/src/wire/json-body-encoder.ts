/**
 * Encodes responses in canonical JSON, once for all polls with the same content. The text of each resource is cached
 * with the resource, so a change of one among many costs that one and the copying of the others. Cached texts are freed
 * with their owner.
 */
import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { Body, Segment } from "@xdskit/protocol/internal";

/** Encodes the responses to polls; one per server. */
export interface JsonBodyEncoder {
  /**
   * Encodes the whole response; returns the same buffer for the same body, which must not be changed. Pauses so as not
   * to block other work. Rejects if a resource cannot be printed.
   */
  encode(body: Body): Promise<Uint8Array>;
}

export interface JsonBodyEncoderOptions {
  /** Returns a resource as canonical JSON with its `@type`; one of an unknown type as its bytes. */
  readonly print: (type: TypeUrl, bytes: Uint8Array) => unknown;
  /** The control plane identifier in responses; none if it is "" (S-RES-16). */
  readonly controlPlane: string;
  /** Yields to other work. */
  readonly pause: () => Promise<void>;
}

/** How many bytes of resources are printed between pauses, which takes some milliseconds. */
const SLICE_BYTES = 64 * 1024;

/** Creates an encoder. */
export function createJsonBodyEncoder(options: JsonBodyEncoderOptions): JsonBodyEncoder {
  const bodies = new WeakMap<Body, Promise<Uint8Array>>();
  const resources = new ResourceTexts(options);
  return {
    encode(body) {
      const known = bodies.get(body);
      if (known !== undefined) return known;
      const made = encodeBody(body, resources, options);
      bodies.set(body, made);
      return made;
    },
  };
}

/** The cached JSON text of each resource. */
class ResourceTexts {
  readonly #options: JsonBodyEncoderOptions;
  readonly #texts = new WeakMap<Resource, Buffer>();
  #printed = 0;

  constructor(options: JsonBodyEncoderOptions) {
    this.#options = options;
  }

  of(resource: Resource): Buffer {
    const known = this.#texts.get(resource);
    if (known !== undefined) return known;
    const text = Buffer.from(JSON.stringify(this.#options.print(resource.type, resource.bytes)));
    this.#printed += resource.bytes.length + 256;
    this.#texts.set(resource, text);
    return text;
  }

  /** Whether it is time to pause. */
  takeSlice(): boolean {
    if (this.#printed < SLICE_BYTES) return false;
    this.#printed = 0;
    return true;
  }
}

const COMMA = Buffer.from(",");

async function encodeBody(
  { version, type, segments, isCanary }: Body,
  texts: ResourceTexts,
  { controlPlane, pause }: JsonBodyEncoderOptions,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [Buffer.from(`{"versionInfo":${JSON.stringify(version)},"resources":[`)];
  for (const { puts } of segments) {
    for (const resource of puts) {
      if (parts.length > 1) parts.push(COMMA);
      parts.push(texts.of(resource));
      if (texts.takeSlice()) await pause();
    }
  }
  const rest = {
    ...(isCanary && { canary: true }),
    typeUrl: type,
    nonce: version,
    ...(controlPlane !== "" && { controlPlane: { identifier: controlPlane } }),
    ...errorsOf(segments),
  };
  parts.push(Buffer.from(`],${JSON.stringify(rest).slice(1)}`));
  return Buffer.concat(parts);
}

function errorsOf(segments: readonly Segment[]): { readonly resourceErrors?: readonly unknown[] } {
  const errors = segments.flatMap((segment) => segment.errors ?? []);
  if (errors.length === 0) return {};
  return {
    resourceErrors: errors.map(({ name, error }) => ({ resourceName: { name }, errorDetail: error })),
  };
}
