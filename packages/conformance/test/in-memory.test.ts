import { describe, expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playInMemory } from "../src/play/in-memory.ts";
import { playsOf } from "../src/play/plays.ts";

describe("in memory", () => {
  for (const play of playsOf(serverCases)) {
    test(`${play.key}: ${play.case.says}`, async () => {
      expect(await playInMemory(play)).toEqual({ passed: true });
    });
  }
});
