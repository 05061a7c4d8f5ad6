/** A JSON object of a Secret. */
export type SecretJson = Readonly<Record<string, unknown>>;

/** A file that a Secret names, and the field that names it. */
export interface SecretSource {
  /** The path as written. */
  readonly filename: string;
  /** The field with the source, such as `private_key`. */
  readonly field: string;
}

/** Finds the files that a Secret names by relative paths; Envoy reads those with absolute ones. */
export function findSources(secret: SecretJson): readonly SecretSource[] {
  const sources: SecretSource[] = [];
  visit(secret, "", (source) => {
    sources.push(source);
    return undefined;
  });
  return sources;
}

/** Returns a copy of a Secret with the content of files in place of their paths. */
export function inlineSources(secret: SecretJson, contentOf: (source: SecretSource) => Uint8Array): SecretJson {
  return visit(secret, "", (source) => ({
    inline_bytes: Buffer.from(contentOf(source)).toString("base64"),
  })) as SecretJson;
}

type Replace = (source: SecretSource) => SecretJson | undefined;

function visit(value: unknown, field: string, replace: Replace): unknown {
  if (Array.isArray(value)) return value.map((element) => visit(element, field, replace));
  if (typeof value !== "object" || value === null) return value;
  const { filename } = value as SecretJson;
  if (typeof filename === "string" && isRelative(filename)) return replace({ filename, field }) ?? value;
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    isExtension(member) ? member : visit(member, key, replace),
  ]);
  const isInlined = entries.some(([key, member]) => isInline(member) && !isInline((value as SecretJson)[key]));
  // Nothing is left for the client to watch.
  return Object.fromEntries(isInlined ? entries.filter(([key]) => key !== "watched_directory") : entries);
}

function isRelative(path: string): boolean {
  return path !== "" && !/^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}

function isExtension(value: unknown): boolean {
  return typeof value === "object" && value !== null && "@type" in value;
}

function isInline(value: unknown): boolean {
  return typeof value === "object" && value !== null && "inline_bytes" in value;
}
