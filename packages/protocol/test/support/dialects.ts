import { anonymousNode, type Choice, type Node } from "@xdskit/protocol";
import { type Dialect, dialectFor } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { knownClients } from "../../src/dialect/known-clients.ts";
import { editions } from "../../src/dialect/switches.ts";

/** How a server speaks to a client: what the client calls itself, and what was chosen for the server. */
export interface Speaking extends Choice {
  readonly is: string;
  readonly userAgentName: string;
}

/** What the rows of known clients go by. */
const callsItself = ["", "envoy", "gRPC Node Pure JS", "gRPC C-core", "gRPC Go", "gRPC Java"];

const byEdition = editions.flatMap((edition) =>
  callsItself.map((userAgentName): Speaking => ({ is: `${edition} ${userAgentName}`, userAgentName, edition })),
);

/** Each switch that changes what is said here, the other way from how the newest edition has it. */
const switched: readonly Speaking[] = (
  [
    { wildcardTypes: false },
    { wildcardTypes: "delta" },
    { wildcardSticky: true },
    { prefixGlob: true },
    { ignoreHints: true },
    { deltaMissing: "none" },
    { deltaMissing: "empty-resource" },
    { deltaRemovals: "when-unreferenced" },
    { deltaRemovals: "never" },
    { resourceErrors: "off" },
    { resourceErrors: "failed-and-missing" },
    { errorsEndWaiting: false },
    { deltaOnePerResponse: true },
    { maySplit: false },
    { nackByVersion: true },
    { nackMayBeOfOlder: true },
    { staleNonce: "honour-names" },
    { resumeVersion: false },
    { resumeSkip: true },
    { resendEdsOnClusterChange: false },
    { makeBeforeBreak: false },
    { withheldAckLimitMs: 1_000 },
    { nodeChange: "reject" },
    { unknownType: "reject" },
    { requireNode: true },
  ] as const
).map((dialect) => ({ is: JSON.stringify(dialect), userAgentName: "", dialect }));

/** Every edition with every known client, and every switch. */
export const speakings: readonly Speaking[] = [...byEdition, ...switched];
export const anySpeaking: fc.Arbitrary<Speaking> = fc.constantFrom(...speakings);

/** Known clients that none of the names here is of. */
export function unnamedClients(): readonly string[] {
  return knownClients.filter(({ isNamed }) => !callsItself.some(isNamed)).map(({ name }) => name);
}

/** A node that speaks so. */
export function nodeOf(id: string, speaking: Speaking | undefined): Node {
  return { ...anonymousNode, id, userAgentName: speaking?.userAgentName ?? "" };
}

export function dialectOf(speaking: Speaking | undefined): Dialect {
  return dialectFor(nodeOf("", speaking), { server: speaking });
}
