/** A response, whole. */
export interface ServerResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | number | undefined>>;
  readonly bytes: Buffer;
}

/** The body as what it says. */
export function jsonOf({ bytes }: ServerResponse): Record<string, unknown> {
  const value: unknown = JSON.parse(bytes.toString());
  if (typeof value !== "object" || value === null) throw new Error(`expected an object, got ${bytes}`);
  return { ...value };
}

/** The names of the resources in it. */
export function namesOf(response: ServerResponse): readonly string[] {
  const resources = jsonOf(response)["resources"];
  if (!Array.isArray(resources)) throw new Error(`expected resources, got ${response.bytes}`);
  return resources.map((resource: { readonly name?: string; readonly clusterName?: string }) => {
    return resource.name ?? resource.clusterName ?? "";
  });
}
