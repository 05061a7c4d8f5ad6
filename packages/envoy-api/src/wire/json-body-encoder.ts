/**
 * Encodes responses in canonical JSON. The text of each resource is cached with the resource, and freed with it, so a
 * response costs the resources that were never printed and the copying of the others.
 */
import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { Body, Segment } from "@xdskit/protocol/internal";

/** Encodes the responses to polls; one per server. */
export interface JsonBodyEncoder {
  /**
   * Encodes the whole response. Pauses so as not to block other work. Rejects if a resource cannot be printed.
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
  const resources = new ResourceTexts(options);
  return { encode: (body) => encodeBody(body, resources, options) };
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
