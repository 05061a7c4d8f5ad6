import { contentDigest, type EnvoyApi } from "@xdskit/envoy-api";
import { decodeResource, decodeSotwResponse, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl, parseTypeUrl, type TypeUrl } from "@xdskit/protocol";

/** A file that a Secret refers to. */
export interface NamedFile {
  readonly path: string;
  /** A move into this directory counts as a change of the file; undefined: the file itself is followed. */
  readonly watchedDirectory: string | undefined;
}

type AnyMessage = ReturnType<typeof decodeSotwResponse>["resources"][number];

const SECRETS: readonly (TypeUrl | undefined)[] = [
  formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
  formatTypeUrl("envoy.api.v2.auth.Secret"),
];
const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");
/** The limit of files per response, more than Secrets ever name. */
const MAX_FILES = 1_000;
/** The tag of a string field with the highest possible number, which no message uses. */
const DIGEST_TAG = [0xfa, 0xff, 0xff, 0xff, 0x0f];

export function isSecret(type: TypeUrl | undefined): boolean {
  return type !== undefined && SECRETS.includes(type);
}

/** The certificate and key files that the Secrets of a response name (C-FS-16). */
export function namedFilesIn(response: Uint8Array, api: EnvoyApi): readonly NamedFile[] {
  const files = decodeSotwResponse(response).resources.flatMap((resource) => filesOf(bodyOf(resource), api));
  return files.slice(0, MAX_FILES);
}

/**
 * Adds to each Secret a digest of the files that it names, as an unknown field. A rotated key thus changes the bytes of
 * its Secret, while the Secret stays what the file says: keys themselves are not copied in.
 */
export function withContents(
  response: Uint8Array,
  contentOf: (path: string) => Uint8Array | undefined,
  api: EnvoyApi,
): Uint8Array {
  const message = decodeSotwResponse(response);
  const resources = message.resources.map((resource) => {
    const body = bodyOf(resource);
    const files = filesOf(body, api);
    if (body === undefined || files.length === 0) return resource;
    const value = Buffer.concat([body.value, digestField(files.map(({ path }) => contentOf(path)))]);
    const marked = { typeUrl: body.typeUrl, value };
    // The last of two equal singular fields wins in protobuf, and the body of a wrapper has the same number as a
    // resource of a response.
    return body === resource
      ? marked
      : { ...resource, value: Buffer.concat([resource.value, encodeSotwResponse({ resources: [marked] })]) };
  });
  return encodeSotwResponse({ ...message, resources });
}

function digestField(contents: readonly (Uint8Array | undefined)[]): Uint8Array {
  const parts = contents.flatMap((content) => (content === undefined ? ["missing"] : ["there", content]));
  const digest = Buffer.from(contentDigest(parts).toString(16));
  return Buffer.from([...DIGEST_TAG, digest.length, ...digest]);
}

/** The body of a wrapper, or the resource itself. */
function bodyOf(resource: AnyMessage): AnyMessage | undefined {
  if (parseTypeUrl(resource.typeUrl) !== WRAPPER) return resource;
  try {
    return decodeResource(resource.value).resource;
  } catch {
    // The response reader reports the error.
    return undefined;
  }
}

function filesOf(body: AnyMessage | undefined, api: EnvoyApi): readonly NamedFile[] {
  const type = body === undefined ? undefined : parseTypeUrl(body.typeUrl);
  if (body === undefined || type === undefined || !isSecret(type)) return [];
  try {
    return [...findFiles(api.toJson(type, body.value), undefined)];
  } catch {
    // The response reader reports the error.
    return [];
  }
}

/** The `filename` of each data source, with its own or the enclosing `watched_directory`. */
function* findFiles(value: unknown, outer: string | undefined): Iterable<NamedFile> {
  if (typeof value !== "object" || value === null) return;
  const { filename, watchedDirectory } = value as { filename?: unknown; watchedDirectory?: { path?: unknown } };
  const own = watchedDirectory?.path;
  const directory = typeof own === "string" && own !== "" ? own : outer;
  if (typeof filename === "string" && filename !== "") yield { path: filename, watchedDirectory: directory };
  for (const inner of Object.values(value)) yield* findFiles(inner, directory);
}
