const STANDARD_STREAMS = [0, 1, 2];

/** Whether a standard stream that is a terminal now is none any more: a closed terminal answers nothing. */
export function watchTerminals(isTerminal: (descriptor: number) => boolean): () => boolean {
  const terminals = STANDARD_STREAMS.filter(isTerminal);
  return () => terminals.some((descriptor) => !isTerminal(descriptor));
}

/** Whether an output is a terminal that understands escape sequences: TERM=dumb is one that does not. */
export function understandsEscapes(
  { isTerminal }: { readonly isTerminal: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && env["TERM"] !== "dumb";
}
