import type { XdsClientError } from "@xdskit/client";
import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { oneLine } from "../output/one-line.ts";
import { describeStatus, tidy } from "./describe-status.ts";
import type { Unanswered } from "./follow-mesh.ts";

/** How the client connected, to explain a failure. */
export interface Asked {
  /** The server or file as the caller named it; undefined if a bootstrap names several servers. */
  readonly where: string | undefined;
  /** The path of the file in the client's messages, which is shown as `where`. */
  readonly path?: string;
  readonly by: "flags" | "bootstrap" | "file";
  readonly tls: { readonly hasCa: boolean; readonly hasCertificate: boolean } | undefined;
  /** What to try if the server does not implement the method. */
  readonly otherWay?: string;
}

/** Converts an error of the client to a `CommandError` with a hint. */
export function failureOf(error: XdsClientError, asked: Asked): CommandError {
  const status = statusOf(error);
  if (status === undefined) return new CommandError(exitCode.problems, error.message);
  return new CommandError(codeOf(status), describeFailure(status, asked), connectionHint(status, asked));
}

/** Describes a rejected resource or a resource error, with the server. */
export function describeError({ code, message }: XdsClientError, asked: Asked): string {
  return placed(code === "REJECTED" && asked.by !== "file" ? `rejected: ${message}` : message, asked);
}

/** Describes the status of a failed stream or connection, with the server. */
export function describeFailure({ code, message }: Status, asked: Asked): string {
  const text = tidy(message);
  const saysItAll = text !== "" && (SELF_EVIDENT.has(code) || /^https?:/.test(text));
  return placed(saysItAll ? text : describeStatus({ code, message }), asked);
}

/** Statuses whose messages are clear without the name of the code. */
const SELF_EVIDENT: ReadonlySet<number> = new Set([
  statusCode.UNAVAILABLE,
  statusCode.UNIMPLEMENTED,
  statusCode.NOT_FOUND,
]);

function placed(text: string, { where, path }: Asked): string {
  const says = path === undefined || where === undefined ? text : text.replaceAll(path, where);
  return oneLine(where === undefined || says.includes(where) ? says : `${where}: ${says}`);
}

/** The gRPC status that caused an error. */
function statusOf({ cause }: XdsClientError): Status | undefined {
  if (typeof cause !== "object" || cause === null || !("code" in cause) || !("message" in cause)) return undefined;
  const { code, message } = cause;
  return typeof code === "number" && typeof message === "string" ? { code, message } : undefined;
}

/** A hint about the likely cause of a failure. */
function connectionHint(status: Status, { where, by, tls, otherWay }: Asked): string | undefined {
  const { code, message } = status;
  if (by === "file") return undefined;
  if (/HTTP status (?:404|405|505)/.test(message)) return "is REST switched off there, or is this its admin port?";
  if (code === statusCode.UNIMPLEMENTED) return otherWay;
  if (code !== statusCode.UNAVAILABLE || /HTTP status/.test(message)) return undefined;
  // Network errors do not depend on the protocol or TLS.
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|Name resolution failed/.test(message)) {
    return `is a server running at ${where ?? "that address"}?`;
  }
  if (by === "bootstrap")
    return isOfConnection(message) ? "does it speak TLS, and does the bootstrap say the same?" : undefined;
  if (tls !== undefined) return tlsHint(message, tls);
  return plainHint(message);
}

function plainHint(message: string): string | undefined {
  // Over gRPC the client says so itself.
  if (/something answers/.test(message)) return undefined;
  if (/Parse Error/.test(message)) return "something answers, but no xDS server: is that its admin port?";
  if (!isOfConnection(message)) return undefined;
  return "something takes connections there: does it speak TLS? try --tls, or --ca FILE";
}

function tlsHint(message: string, { hasCa, hasCertificate }: NonNullable<Asked["tls"]>): string | undefined {
  if (/altnames/.test(message)) return "--server-name says which name the certificate must be for";
  if (/wrong version number|packet length|http request|before secure TLS/i.test(message)) {
    return "does it speak TLS at all? try without --tls, --ca, --cert and --server-name";
  }
  if (/self.signed|certificate has expired|unable to (?:get|verify)|issuer/i.test(message)) {
    return hasCa ? "is --ca its authority?" : "give the authority that signed its certificate with --ca FILE";
  }
  if (!isOfConnection(message)) return undefined;
  return hasCertificate
    ? "does it trust the authority of --cert?"
    : "it may want a client certificate: --cert FILE and --key FILE";
}

/** The connection failed or was closed. */
function isOfConnection(message: string): boolean {
  return /no connection|not connected within|socket hang up|ECONNRESET|EPROTO|SSL routines|Connection dropped|alert/.test(
    message,
  );
}

/** The failure when no server responded; lists each reason once. */
export function unreachableFailure(unanswered: readonly Pick<Unanswered, "error">[], asked: Asked): CommandError {
  const statuses = unanswered.flatMap(({ error }) => error ?? []);
  const reasons = [...new Map(statuses.map((status) => [describeFailure(status, asked), status]))];
  const [first, ...more] = reasons;
  if (first === undefined) {
    const who = asked.where ?? "the server";
    return new CommandError(exitCode.unreachable, `${who} takes the question, and does not answer in time`);
  }
  const [reason, status] = first;
  const hint = connectionHint(status, asked);
  if (more.length === 0) return new CommandError(codeOf(status), reason, hint);
  const lines = reasons.map(([each]) => `\n    ${each}`).join("");
  return new CommandError(exitCode.unreachable, `no server can be asked:${lines}`, hint);
}

/** A server that responds with another error is reachable: that is a problem, not an outage. */
function codeOf({ code }: Status): ExitCode {
  const isAway = code === statusCode.UNAVAILABLE || code === statusCode.DEADLINE_EXCEEDED;
  return isAway ? exitCode.unreachable : exitCode.problems;
}
