/**
 * The most levels of lists and objects in a text of JSON or YAML. Envoy's messages stay below it, and protobuf stops at 100
 * messages.
 */
export const maxNesting = 200;
/** The message of a text or value beyond that. */
export const nestedTooDeep: string = `expected at most ${maxNesting} levels of nesting, got more`;

/** What readers of YAML allow, whichever package they are in. */
export const yamlLimits = {
  /** Values that aliases add to a document; configuration needs a few, an alias bomb millions. */
  aliasedValues: 100_000,
  /** Characters that the parser of npm reads; more would take gigabytes and minutes. Larger texts should be JSON. */
  characters: 8_000_000,
  /**
   * Characters of a text of a directory that the quick reader leaves to that parser. A server reads it again and again, beside
   * its clients: it may take neither seconds nor hundreds of megabytes.
   */
  unusualCharacters: 2_000_000,
  /** Mistakes reported per text; later ones are usually echoes of the first. */
  mistakes: 10,
} as const;
