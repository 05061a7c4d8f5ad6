import { afterAll, describe, expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import { playsOf } from "../src/play/plays.ts";
import { createOurs } from "../src/target/ours.ts";

const ours = createOurs();
afterAll(() => ours[Symbol.asyncDispose]());

const plays = playsOf(serverCases.filter(({ memoryOnly }) => memoryOnly === undefined));

describe.concurrent("over the wire, against our server", () => {
  test.for(plays)("$key", async (play) => {
    expect(await playOverTheWire(play, ours)).toEqual({ passed: true });
  });
});
