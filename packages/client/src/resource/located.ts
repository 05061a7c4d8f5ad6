import type { EnvoyApi } from "@xdskit/envoy-api";
import { formatResourceName } from "@xdskit/protocol";
import type { HeldResource } from "@xdskit/protocol/internal";
import { entryName } from "./entry-name.ts";

/** The JSON of a `ResourceLocator`. */
interface Locator {
  readonly scheme?: string;
  readonly id?: string;
  readonly authority?: string;
  readonly resourceType?: string;
  readonly exactContext?: { readonly params?: Readonly<Record<string, string>> };
  readonly directives?: readonly { readonly alt?: Locator; readonly entry?: string }[];
}

/**
 * The xdstp names of a locator, best first (S-XTP-10, C-XTP-11), each with the list collection entry that it selects
 * (B-XTP-07); empty for another scheme.
 */
export function namesLocatedBy(
  { bodyType, bytes }: Pick<HeldResource, "bodyType" | "bytes">,
  api: Pick<EnvoyApi, "toJson">,
): readonly string[] {
  return bodyType === undefined ? [] : namesIn(api.toJson(bodyType, bytes) as Locator);
}

function namesIn({ scheme = "XDSTP", ...locator }: Locator): readonly string[] {
  const { id = "", authority = "", resourceType: type = "", exactContext = {}, directives = [] } = locator;
  if (scheme !== "XDSTP" || type === "") return [];
  const path = id.split("/");
  const isGlob = path.at(-1) === "*";
  const contextParams = new Map(Object.entries(exactContext.params ?? {}));
  const whole = formatResourceName({ authority, type, id: isGlob ? path.slice(0, -1) : path, isGlob, contextParams });
  const entry = directives.find((directive) => directive.entry !== undefined)?.entry;
  const name = entry === undefined ? whole : entryName(whole, entry);
  return [name, ...directives.flatMap(({ alt }) => (alt === undefined ? [] : namesIn(alt)))];
}
