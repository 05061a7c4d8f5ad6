// Checks that find problems in resources from any source, without reading files or loading a YAML parser.
export type { CrossProblem, LayerFile } from "./file-content.ts";
export { ListenerAddresses } from "./listener-addresses.ts";
export { formatPath } from "./problem.ts";
export { problemCounts } from "./problem-bound.ts";
export { readValue } from "./read-resource.ts";
export { checkReferences } from "./references.ts";
export { checkTtls } from "./ttls.ts";
