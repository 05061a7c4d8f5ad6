/**
 * The most levels of lists and objects in a text of JSON or YAML. Envoy's messages stay below it, and protobuf stops at 100
 * messages.
 */
export const maxNesting = 200;
