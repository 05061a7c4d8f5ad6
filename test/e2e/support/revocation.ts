import type { Authority } from "../../../packages/server/test/support/authority.ts";
import { RawPeer } from "../../../packages/server/test/support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, sotwRequest } from "../../../packages/server/test/support/test-server.ts";
import { until } from "./wait.ts";

/** How soon a revoked client is gone. */
export const REVOKED_MS = 1_000;
/** An odd number, so that the median is one of them. */
export const PROBES = 5;
const WITHIN_MS = 60_000;

export interface Revoking {
  readonly port: number;
  readonly authority: Authority;
  /** Puts the authority's list where the server reads it. */
  readonly writeList: () => void;
}

/** Connects some clients one by one, and measures the milliseconds from a list that names each until its connection is gone. */
export async function revokeSome(count: number, { port, authority, writeList }: Revoking): Promise<readonly number[]> {
  const took: number[] = [];
  for (let probe = 0; probe < count; probe++) {
    const issued = authority.issue("URI:spiffe://prod/probe");
    const peer = await RawPeer.connect({ host: "127.0.0.1", port }, { ca: authority.cert, ...issued });
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    await until({ says: "the probe is connected", withinMs: WITHIN_MS }, () => !peer.isGone);
    authority.revoke(issued);
    writeList();
    const { ms } = await until({ says: "the revoked one is gone", withinMs: WITHIN_MS }, () => peer.isGone);
    took.push(ms);
  }
  return took;
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
