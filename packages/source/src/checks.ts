// What needs no files and no YAML parser: checks that find problems in resources from any source, and differences
// between two states.

export { formatPath } from "@xdskit/protocol/internal";
export type { FileChunk } from "./file-chunks.ts";
export type { CrossProblem, LayerFile } from "./file-content.ts";
export { ListenerAddresses } from "./listener-addresses.ts";
export { layerChangesInSteps } from "./loaded-state.ts";
export type { Problem } from "./problem.ts";
export { problemCounts } from "./problem-bound.ts";
export { readValue, type ValidationLevel } from "./read-resource.ts";
export { checkReferences } from "./references.ts";
export type { AskedResource, ResourcePlace } from "./resource-places.ts";
export { noSeverities, withSeverity } from "./settings/severity.ts";
export { checkTtls } from "./ttls.ts";
