import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { Status } from "@xdskit/protocol";
import type { StreamListener } from "../../src/transport/transport.ts";
import { WITHIN_MS } from "./until.ts";

/** What a listener was told, in order. */
export type Told =
  | { readonly kind: "opened" | "unchanged" | "due" }
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  | { readonly kind: "unreadable"; readonly problem: string }
  | { readonly kind: "ended"; readonly status: Status };

/** A listener that writes down what it is told. */
export interface FakeListener extends StreamListener {
  readonly told: Told[];
  /** Responses are held until this is called, if it was set. */
  judge: (() => Promise<void>) | undefined;
  /** Resolves with the next one of a kind that was not handed out. Rejects when that takes too long. */
  next<K extends Told["kind"]>(kind: K): Promise<Extract<Told, { readonly kind: K }>>;
  readonly kinds: readonly Told["kind"][];
}

export function fakeListener(): FakeListener {
  const told: Told[] = [];
  const handedOut = new Set<Told>();
  const wakes = new Set<() => void>();
  const tell = (one: Told): void => {
    told.push(one);
    for (const wake of [...wakes]) wake();
  };
  const find = (kind: Told["kind"]): Told | undefined => told.find((one) => one.kind === kind && !handedOut.has(one));
  return {
    told,
    judge: undefined,
    get kinds() {
      return told.map(({ kind }) => kind);
    },
    opened: () => tell({ kind: "opened" }),
    unchanged: () => tell({ kind: "unchanged" }),
    due: () => tell({ kind: "due" }),
    unreadable: (problem) => tell({ kind: "unreadable", problem }),
    ended: (status) => tell({ kind: "ended", status }),
    async response(bytes) {
      tell({ kind: "response", bytes });
      await this.judge?.();
    },
    async next<K extends Told["kind"]>(kind: K): Promise<Extract<Told, { readonly kind: K }>> {
      const giveUpAt = Date.now() + WITHIN_MS;
      for (let one = find(kind); ; one = find(kind)) {
        if (one !== undefined) {
          handedOut.add(one);
          return one as Extract<Told, { readonly kind: K }>;
        }
        await untilWoken(wakes, giveUpAt, `waited for "${kind}", got ${JSON.stringify(told)}`);
      }
    },
  };
}

/** The names of the messages in a response. */
export function namesIn(bytes: Uint8Array): readonly string[] {
  // Every message here has its name first.
  return decodeSotwResponse(bytes).resources.map(({ value }) =>
    Buffer.from(value)
      .subarray(2, 2 + (value[1] ?? 0))
      .toString(),
  );
}

async function untilWoken(wakes: Set<() => void>, giveUpAt: number, otherwise: string): Promise<void> {
  let wake: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      wake = resolve;
      wakes.add(resolve);
      timer = setTimeout(() => reject(new Error(otherwise)), giveUpAt - Date.now());
    });
  } finally {
    clearTimeout(timer);
    if (wake !== undefined) wakes.delete(wake);
  }
}
