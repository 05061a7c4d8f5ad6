/** How a text differs from the one before: all before `begin`, and all from the ends on, is equal. */
export interface TextChange {
  readonly begin: number;
  /** The end of the change in the new text. */
  readonly end: number;
  /** Its end in the text before. */
  readonly endBefore: number;
  /** How far the equal end moved. */
  readonly shift: number;
}

/** Compared at once, as slices, which takes a hundredth of the time of comparing characters. */
const SLICE = 8192;

/** Compares two texts from their beginnings and ends. */
export function textChange(before: string, after: string): TextChange {
  const shorter = Math.min(before.length, after.length);
  const begin = equalBeginning(before, after, shorter);
  const shift = after.length - before.length;
  const equalEnd = equalEnding(before, after, shorter - begin);
  return { begin, end: after.length - equalEnd, endBefore: before.length - equalEnd, shift };
}

function equalBeginning(before: string, after: string, most: number): number {
  let at = 0;
  while (at + SLICE <= most && before.slice(at, at + SLICE) === after.slice(at, at + SLICE)) at += SLICE;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  return at;
}

function equalEnding(before: string, after: string, most: number): number {
  const sliceOf = (text: string, length: number): string =>
    text.slice(text.length - length - SLICE, text.length - length);
  let length = 0;
  while (length + SLICE <= most && sliceOf(before, length) === sliceOf(after, length)) length += SLICE;
  while (length < most && before.charCodeAt(before.length - length - 1) === after.charCodeAt(after.length - length - 1))
    length++;
  return length;
}
