import { afterAll, expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import { type Play, playsOf } from "../src/play/plays.ts";
import { createOurs } from "../src/target/ours.ts";
import type { RunningServer, Target } from "../src/target/target.ts";
import { targetThat } from "./support/bad-target.ts";

const ours = createOurs();
afterAll(() => ours[Symbol.asyncDispose]());

/** A case in which one heartbeat comes, and no other. */
const [timed] = playsOf(serverCases.filter(({ id }) => id === "S-TTL-16")) as [Play];

/** Our server, on a machine that stands still in the last step but one of the first plays. */
function targetThatIsLate(latePlays: number): Target & { readonly starts: () => number } {
  let starts = 0;
  return {
    name: "ours, late",
    pace: ours.pace,
    tellsBookings: ours.tellsBookings,
    isExact: ours.isExact,
    hasRest: ours.hasRest,
    starts: () => starts,
    async start(setup, kind): Promise<RunningServer> {
      const isLate = ++starts <= latePlays;
      const server = await ours.start(setup, kind);
      let steps = 0;
      return {
        address: server.address,
        commit: (commit) => server.commit(commit),
        place: (nodeMapping) => server.place(nodeMapping),
        stop: () => server.stop(),
        takeBookings: () => {
          if (isLate && ++steps === timed.case.steps.length - 1) standStill(2_100);
          return server.takeBookings?.() ?? [];
        },
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("a case in which time passes is played again where a step was late", async () => {
  const target = targetThatIsLate(1);
  expect(await playOverTheWire(timed, target)).toEqual({ passed: true });
  expect(target.starts()).toBe(2);
});

test("a case in which time passes is played once where something never came", async () => {
  let starts = 0;
  const mute = targetThat((stream) => stream.respond({ ":status": 200, "content-type": "application/grpc" }));
  const target: Target = {
    ...mute,
    pace: { ...mute.pace, deadlineMs: 500 },
    start: (...given) => {
      starts++;
      return mute.start(...given);
    },
  };
  expect(await playOverTheWire(timed, target)).toMatchObject({ passed: false, step: 3 });
  expect(starts).toBe(1);
});

test("and fails when it is late each time", async () => {
  const target = targetThatIsLate(3);
  expect(await playOverTheWire(timed, target)).toMatchObject({ passed: false });
  expect(target.starts()).toBe(3);
});
