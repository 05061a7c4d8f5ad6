// What finds problems in resources wherever they come from: no file is read, no YAML is loaded.
export type { CrossProblem, LayerFile } from "./file-content.ts";
export { ListenerAddresses } from "./listener-addresses.ts";
export { formatPath } from "./problem.ts";
export { readValue } from "./read-resource.ts";
export { checkReferences } from "./references.ts";
export { checkTtls } from "./ttls.ts";
