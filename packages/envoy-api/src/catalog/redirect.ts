import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { isGlobName, typeInName } from "@xdskit/protocol/internal";
import type { ProblemList } from "../format/problem-list.ts";

/** The type of a resource locator, which redirects to a resource elsewhere (S-XTP-10). */
export const redirectType: TypeUrl = formatTypeUrl("xds.core.v3.ResourceLocator");

/**
 * Returns the type of a redirected resource, which only its name can tell; undefined after adding a problem. A glob
 * collection cannot be redirected, because it is no resource.
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
