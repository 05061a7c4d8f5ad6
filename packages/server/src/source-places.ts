import type { AskedResource, ResourcePlace } from "@xdskit/source/checks";

export type { AskedResource, ResourcePlace };

/** Finds where resources are in the source, in the order in which they are asked for; undefined: not known. */
export type PlacesOf = (asked: readonly AskedResource[]) => Promise<readonly (ResourcePlace | undefined)[]>;
