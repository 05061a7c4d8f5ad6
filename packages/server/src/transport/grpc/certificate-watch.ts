import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { startTimer, type Timer } from "@xdskit/disk";
import { nextTurn } from "../../next-turn.ts";
import type { CertificateFault, ClientTrust, ShownCertificate } from "./client-trust.ts";

/** Why a client should, or must, connect with another certificate. */
export type CertificateNotice = CertificateFault | "expiring";

/** Each connection that was judged, and what is wrong with its certificate; undefined: nothing. */
export type CertificateFaults = ReadonlyMap<TLSSocket, CertificateFault | undefined>;

/** The part of a certificate's life before its end in which its connection is asked to leave. */
const ANNOUNCED_SHARE = 0.1;
const MAX_ANNOUNCED_MS = 3_600_000;
/** A shorter rest of a life is not announced. */
const MIN_ANNOUNCED_MS = 1_000;
/** Certificates judged between other work; each takes about 0.1 ms. */
const JUDGED_PER_TURN = 32;

/** The open connections with a verified client certificate: tells when one expires or is no longer trusted. */
export class CertificateWatch {
  readonly #timers = new Map<TLSSocket, Timer>();
  readonly #notify: (socket: TLSSocket, notice: CertificateNotice) => void;

  constructor(notify: (socket: TLSSocket, notice: CertificateNotice) => void) {
    this.#notify = notify;
  }

  /** Follows a connection until it closes. `trust` judges it first. */
  add(socket: TLSSocket, trust: ClientTrust | undefined): void {
    if (!socket.authorized || socket.destroyed) return;
    const { valid_from: validFrom, valid_to: validTo } = socket.getPeerCertificate();
    const validFromMs = Date.parse(validFrom);
    const validToMs = Date.parse(validTo);
    if (Number.isNaN(validToMs)) return; // an empty object: it has no certificate
    socket.once("close", () => this.#forget(socket));
    const announceMs = announceAfterMs({ validFromMs, validToMs }, Date.now(), Math.random());
    if (announceMs === undefined) this.#awaitEnd(socket, validToMs);
    else {
      const announce = (): void => {
        this.#awaitEnd(socket, validToMs);
        this.#notify(socket, "expiring");
      };
      this.#timers.set(socket, startTimer(announceMs, announce));
    }
    if (trust !== undefined) this.#judge(socket, trust);
  }

  /** What is wrong with the certificate of each open connection. Ends none. In slices of the event loop. */
  async faults(trust: ClientTrust): Promise<CertificateFaults> {
    const faults = new Map<TLSSocket, CertificateFault | undefined>();
    for (const socket of [...this.#timers.keys()]) {
      if (!this.#timers.has(socket) || socket.destroyed) continue;
      faults.set(socket, faultOf(socket, trust));
      if (faults.size % JUDGED_PER_TURN === 0) await nextTurn();
    }
    return faults;
  }

  /** Ends the connections with a fault, and judges those that were opened since. In slices of the event loop. */
  async enforce(trust: ClientTrust, faults: CertificateFaults): Promise<void> {
    let handled = 0;
    for (const socket of [...this.#timers.keys()]) {
      const fault = faults.get(socket);
      if (fault !== undefined && this.#timers.has(socket)) this.#lapse(socket, fault);
      else if (!faults.has(socket)) this.#judge(socket, trust);
      else continue;
      if (++handled % JUDGED_PER_TURN === 0) await nextTurn();
    }
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #judge(socket: TLSSocket, trust: ClientTrust): void {
    if (!this.#timers.has(socket) || socket.destroyed) return;
    const fault = faultOf(socket, trust);
    if (fault !== undefined) this.#lapse(socket, fault);
  }

  #awaitEnd(socket: TLSSocket, validToMs: number): void {
    const leftMs = Math.max(0, validToMs - Date.now());
    this.#timers.set(
      socket,
      startTimer(leftMs, () => this.#lapse(socket, "expired")),
    );
  }

  #lapse(socket: TLSSocket, fault: CertificateFault): void {
    this.#forget(socket);
    this.#notify(socket, fault);
  }

  #forget(socket: TLSSocket): void {
    this.#timers.get(socket)?.cancel();
    this.#timers.delete(socket);
  }
}

/** What cannot be judged is not trusted. */
function faultOf(socket: TLSSocket, trust: ClientTrust): CertificateFault | undefined {
  try {
    return trust.judge(shownBy(socket), new Date());
  } catch {
    return "untrusted";
  }
}

/**
 * The certificate of a connection, and those above it that the client sent. `getPeerX509Certificate` does not have these.
 */
function shownBy(socket: TLSSocket): ShownCertificate {
  const certificates: X509Certificate[] = [];
  const passed = new Set<DetailedPeerCertificate>();
  // The last one refers to itself, or to nothing if its issuer is unknown, whatever the types say.
  let at: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (at !== undefined && !passed.has(at)) {
    passed.add(at);
    certificates.push(new X509Certificate(at.raw));
    at = at.issuerCertificate;
  }
  const [leaf, ...chain] = certificates;
  if (leaf === undefined) throw new Error("invariant: a connection lost its certificate");
  return { leaf, chain };
}

interface Lifetime {
  readonly validFromMs: number;
  readonly validToMs: number;
}

/**
 * Milliseconds after which a connection is asked to leave before its certificate expires; undefined: it is not worth it.
 * Spread by `random` (0 to 1), so that clients whose certificates expire together do not return together. A client that
 * comes back with the same certificate is asked again after at least half of the time that is left, so it is asked a few
 * times and never in a loop.
 */
export function announceAfterMs(
  { validFromMs, validToMs }: Lifetime,
  nowMs: number,
  random: number,
): number | undefined {
  const leftMs = validToMs - nowMs;
  const aheadMs = Math.min(leftMs / 2, (validToMs - validFromMs) * ANNOUNCED_SHARE, MAX_ANNOUNCED_MS);
  return aheadMs < MIN_ANNOUNCED_MS ? undefined : leftMs - aheadMs * (1 - random / 2);
}
