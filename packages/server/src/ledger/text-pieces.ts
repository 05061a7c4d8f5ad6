/** Characters that are digested or written at a time. */
const PIECE = 256 * 1024;

/** Divides a long text without cutting a character in two. */
export function* piecesOf(text: string): Iterable<string> {
  for (let from = 0; from < text.length; ) {
    const isCut = isHighSurrogate(text.charCodeAt(from + PIECE - 1));
    const to = from + PIECE - (isCut ? 1 : 0);
    yield text.slice(from, to);
    from = to;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
