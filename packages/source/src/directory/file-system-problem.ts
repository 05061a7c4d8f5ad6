import type { Problem, SourceProblemCode } from "../problem.ts";

/** The code of a system error, such as `ENOENT`; undefined for any other error. */
export function systemCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The problem of a file or folder that cannot be read. `what` is "file" or "folder". */
export function unreadable(file: string, what: "file" | "folder", systemCode: string): Problem {
  switch (systemCode) {
    case "EACCES":
    case "EPERM":
      return problem("FILE_UNREADABLE", file, `expected a ${what} that may be read, permission is denied`, {
        hint: "give the user of this process the right to read it",
      });
    case "ELOOP":
      return problem(
        "SYMLINK_CYCLE",
        file,
        "expected a symbolic link that leads somewhere, got one that leads back to itself",
      );
    case "ENOENT":
      return problem(
        "SYMLINK_BROKEN",
        file,
        "expected a symbolic link that leads to something, its target does not exist",
        {
          hint: "remove the link, or create what it points to",
        },
      );
    default:
      return problem("FILE_UNREADABLE", file, `expected a ${what} that can be read, got ${systemCode}`);
  }
}

/** A problem of a whole file. */
export function problem(code: SourceProblemCode, file: string, message: string, more?: { hint: string }): Problem {
  return { code, severity: "error", file, message, ...more };
}
