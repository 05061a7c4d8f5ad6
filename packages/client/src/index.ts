export { type ConfigProblem, XdsClientError, type XdsClientErrorCode } from "./error.ts";
