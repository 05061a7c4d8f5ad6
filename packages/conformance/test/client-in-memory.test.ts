import { describe, expect, test } from "vitest";
import { clientCases } from "../src/cases/client/cases.ts";
import { playClientInMemory } from "../src/play/client/in-memory.ts";
import { clientPlaysOf } from "../src/play/client/plays.ts";

describe("in memory, the client", () => {
  for (const play of clientPlaysOf(clientCases)) {
    test(`${play.key}: ${play.case.says}`, async () => {
      expect(await playClientInMemory(play)).toEqual({ passed: true });
    });
  }
});
