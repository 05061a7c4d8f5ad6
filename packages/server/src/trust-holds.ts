import type { HubView } from "./hub/hub-view.ts";
import { countCutOff } from "./judged-nodes.ts";
import type { CertificateFaults } from "./transport/grpc/certificate-watch.ts";
import type { CertificateFault, ClientTrust } from "./transport/grpc/client-trust.ts";
import type { HeldTrust, TlsListener, TrustFuse } from "./transport/grpc/tls.ts";
import { addressOf } from "./transport/peer.ts";

export interface TrustHoldsOptions {
  readonly view: () => HubView;
  /** `nodesCutOff` of the fuses. */
  readonly share: number;
}

/** The fuse for CAs and revocation lists of all listeners, and what it holds. They are files of this process, so no ledger has them. */
export class TrustHolds implements TrustFuse {
  readonly #options: TrustHoldsOptions;
  readonly #listeners = new Set<TlsListener>();

  constructor(options: TrustHoldsOptions) {
    this.#options = options;
  }

  add(listener: TlsListener): void {
    this.#listeners.add(listener);
  }

  remove(listener: TlsListener): void {
    this.#listeners.delete(listener);
  }

  /** Counts together what becomes of the clients of all listeners that read the same files. */
  async trip(listener: TlsListener, trust: ClientTrust, faults: CertificateFaults): Promise<string | undefined> {
    const faulty = new Map<string, CertificateFault>();
    for (const other of this.#listeners) {
      if (!other.sharesTrustWith(listener)) continue;
      for (const [socket, fault] of other === listener ? faults : await other.faults(trust)) {
        const address = fault === undefined || fault === "expired" ? undefined : addressOf(socket);
        if (fault !== undefined && address !== undefined) faulty.set(address, fault);
      }
    }
    const { connected, untrusted, revoked } = countCutOff(this.#options.view(), faulty);
    const cutOff = untrusted + revoked;
    // Who revokes one client means it, however few there are.
    if (cutOff <= this.#options.share * connected || (untrusted === 0 && revoked === 1)) return undefined;
    const reasons = [
      ...(untrusted > 0 ? [`${untrusted} by the CAs`] : []),
      ...(revoked > 0 ? [`${revoked} by the revocation lists`] : []),
    ];
    return `${cutOff} of ${connected} connected nodes would be cut off: ${reasons.join(", ")}`;
  }

  /** What is held; listeners that hold the same content are one. */
  get held(): readonly HeldTrust[] {
    const held = new Map<string, HeldTrust>();
    for (const { held: one } of this.#listeners) if (one !== undefined && !held.has(one.id)) held.set(one.id, one);
    return [...held.values()];
  }

  /** Puts in force what is held under an id, at every listener. Returns whether it was held. */
  async approve(id: string): Promise<boolean> {
    const approved = await Promise.all([...this.#listeners].map((listener) => listener.approve(id)));
    return approved.includes(true);
  }
}
