import type { ErrorCode } from "./frame.ts";

/** An error of the client's that ends the connection (RFC 9113 section 5.4.1). */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
