import { formatTypeUrl, isGlobName, type TypeUrl, typeInName } from "@xdskit/protocol";
import type { ProblemList } from "../format/problem-list.ts";

/** What stands in the place of a resource that is elsewhere (S-XTP-10). */
export const redirectType: TypeUrl = formatTypeUrl("xds.core.v3.ResourceLocator");

/**
 * The type of what is redirected, which only its name can say; undefined after a problem was added. A glob collection is no
 * resource, so nothing can stand in its place.
 */
export function redirectedType(name: string | undefined, problems: ProblemList): TypeUrl | undefined {
  const message = name === undefined ? undefined : typeInName(name);
  if (name === undefined || message === undefined) {
    const got = name === undefined ? "none" : JSON.stringify(name);
    problems.error("REDIRECT_INVALID", `expected an xdstp name around a ResourceLocator, got ${got}`, HINT);
    return undefined;
  }
  if (isGlobName(name)) {
    problems.error("REDIRECT_INVALID", `expected the name of one resource, got the glob collection ${name}`, HINT);
    return undefined;
  }
  return formatTypeUrl(message);
}

const HINT = "list collections and single members of a glob collection may be redirected";
