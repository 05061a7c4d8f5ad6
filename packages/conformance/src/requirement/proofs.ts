/** A named test that proves what no case can: limits, pings, shutdown, observability. */
export interface Proof {
  readonly id: string;
  /** The test file, relative to the repository. */
  readonly test: string;
  /** The name of the test or of its `describe`. */
  readonly name: string;
}

/** Whose requirements a test proves. */
export type Side = "server" | "client";

const ID = String.raw`(?:[SCB]-[A-Z]{2,4}-\d{2}|T-[A-Z]\d+|O-\d+|[DE]\d+)`;
/** A name that begins with an id, as the first argument of a call. */
const NAMED = new RegExp(String.raw`\(\s*(["'\x60])(${ID}\b(?:(?!\1).)*)\1`, "g");
const EVERY_ID = new RegExp(String.raw`\b${ID}\b`, "g");

/** The proofs in the text of a test file: each id in the name of a test or `describe` that begins with an id. */
export function proofsIn(test: string, text: string): readonly Proof[] {
  return [...text.matchAll(NAMED)].flatMap(([, , name = ""]) =>
    (name.match(EVERY_ID) ?? []).map((id) => ({ id, test, name })),
  );
}

const ofClient =
  /^packages\/(?:client\/|protocol\/(?:src|test|test\/property)\/(?:client|load|mesh))|\/client-library\./;
const ofBoth = /^packages\/(?:envoy-api|protocol\/src\/resource)\//;

/** Whether a test file proves requirements of a side; it matters for those that bind both sides. */
export function provesFor(side: Side, test: string): boolean {
  return ofBoth.test(test) || ofClient.test(test) === (side === "client");
}
