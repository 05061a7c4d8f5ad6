import { afterAll, describe, expect, test } from "vitest";
import { clientCases } from "../src/cases/client/cases.ts";
import { playClientOverTheWire } from "../src/play/client/over-the-wire.ts";
import { clientPlaysOf } from "../src/play/client/plays.ts";
import { createOurClient } from "../src/target/our-client.ts";

const ours = createOurClient();
afterAll(() => ours[Symbol.asyncDispose]());

const plays = clientPlaysOf(clientCases.filter(({ memoryOnly }) => memoryOnly === undefined));

describe.concurrent("over the wire, our client", () => {
  test.for(plays)("$key", async (play) => {
    expect(await playClientOverTheWire(play, ours)).toEqual({ passed: true });
  });
});
