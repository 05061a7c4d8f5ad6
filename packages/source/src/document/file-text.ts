import type { Problem } from "../problem.ts";

/** The text of a file, or why it is none. A byte order mark is left out. */
export type FileText =
  | { readonly text: string; readonly problem: undefined }
  | { readonly text: undefined; readonly problem: Problem };

const strict: InstanceType<typeof TextDecoder> = new TextDecoder("utf-8", { fatal: true });

/** Reads UTF-8. Never throws. */
export function decodeText(file: string, bytes: Uint8Array): FileText {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16 || (bytes.length > 1 && (first === 0 || second === 0))) return refuse(file, "expected UTF-8, got UTF-16");
  try {
    const text = strict.decode(bytes);
    return text.trim() === "" ? { text: undefined, problem: emptyFile(file) } : { text, problem: undefined };
  } catch {
    const { line, column } = placeOfBadByte(bytes); // a TypeError that says only that there is one
    return refuse(file, "expected UTF-8, got a byte that is none", line, column);
  }
}

/** What is wrong with a file of no bytes: one that was just cut to nothing is about to be written, and must not delete what it held. */
export function emptyFile(file: string): Problem {
  return {
    code: "FILE_EMPTY",
    severity: "error",
    file,
    message: "expected resources, got an empty file",
    hint: 'delete the file, or write "resources: []" to say that it holds none',
  };
}

function refuse(file: string, message: string, line?: number, column?: number): FileText {
  const place = line === undefined || column === undefined ? {} : { line, column };
  const hint = "save the file as UTF-8";
  return { text: undefined, problem: { code: "FILE_ENCODING", severity: "error", file, ...place, message, hint } };
}

function placeOfBadByte(bytes: Uint8Array): { line: number; column: number } {
  const text = new TextDecoder("utf-8").decode(bytes);
  const before = text.slice(0, Math.max(0, text.indexOf("\ufffd")));
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: before.length - lineStart + 1 };
}
