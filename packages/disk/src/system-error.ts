/** Whether it is a system error with one of the codes. */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Whether it is an error of the system. */
export function isAnySystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
