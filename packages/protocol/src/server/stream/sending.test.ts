import { beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, resource } from "../../../test/support/resources.ts";
import { typeStream } from "../../../test/support/type-streams.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Body } from "../../message/body.ts";
import { ResponseSplitter } from "../cache/split.ts";
import { Conversion } from "../contract/conversion.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { Sending } from "./sending.ts";

const client = node("n");
const dialect = dialectFor(client);
const body: Body = {
  ...{ variant: "delta", type: ENDPOINTS, version: "v" },
  segments: [{ puts: [resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1")], removed: ["x"], missing: [] }],
};
const conversion = new Conversion(() => new Uint8Array([1]));
const converted = conversion.body(body);

let type: TypeStream;
let effects: ServerEffect[];

beforeEach(() => {
  type = typeStream(ENDPOINTS, ["a"]);
  effects = [];
});

describe("S-NON-01: a response", () => {
  test("has a nonce of its own, and is reported with what it holds", () => {
    const sending = new Sending(7, { node: client, dialect });
    const first = sending.respond(
      ...([type, { body, isInOrder: true, news: [] }, { revision: 5, toldTo: undefined, at: 9 }, effects] as const),
    );
    const about = { body, revision: 5, from: undefined, at: 9, isInTurn: true, asked: type.subscription.scope };
    expect(first).toEqual({ ...about, nonce: "1" });
    expect(effects).toEqual([
      { kind: "send", stream: 7, body, nonce: "1" },
      {
        kind: "report",
        report: {
          ...{ kind: "response-sent", stream: 7, node: client, type: ENDPOINTS, nonce: "1", version: "v" },
          ...{ revision: 5, resources: 2, removed: 1 },
        },
      },
    ]);
    const from = (toldTo: number | undefined, isInOrder: boolean): unknown => {
      const answer = { body, isInOrder, news: [] };
      const delivery = sending.respond(type, answer, { revision: 5, toldTo, at: 10 }, []);
      return [delivery.nonce, delivery.isInTurn, delivery.from];
    };
    expect([from(3, true), from(5, true), from(3, false)]).toEqual([
      ["2", true, 3],
      ["3", true, 4],
      ["4", false, undefined],
    ]);
    expect(type.deliveries.pending.map(({ nonce }) => nonce)).toEqual(["1", "2", "3", "4"]);
  });

  test("S-TTL-09 is not what a heartbeat is, which has a nonce too", () => {
    const sending = new Sending(7, { node: client, dialect, conversion });
    sending.beat(type, body, { revision: 5, at: 9 }, effects);
    expect(effects).toEqual([
      { kind: "send", stream: 7, body: converted, nonce: "1" },
      {
        kind: "report",
        report: {
          ...{ kind: "heartbeat-sent", stream: 7, node: client, type: ENDPOINTS, nonce: "1" },
          ...{ version: "v", resources: 2 },
        },
      },
    ]);
    expect(type.deliveries.pending).toEqual([
      { nonce: "1", body: converted, revision: 5, from: undefined, at: 9, isInTurn: false, isHeartbeat: true },
    ]);
  });
});

describe("S-RES-08: an answer", () => {
  test("is one body, converted for its client, or as many as the client takes", () => {
    const parts = (what: Partial<typeof dialect>): unknown => {
      const sending = new Sending(7, { node: client, dialect: { ...dialect, ...what } });
      const made = sending.partsOf(body, type.traits, new ResponseSplitter());
      return made.map(({ segments }) => segments.flatMap(({ puts }) => puts.map((put) => put.name)));
    };
    expect([parts({}), parts({ deltaOnePerResponse: true })]).toEqual([[["a", "b"]], [["a"], ["b"], []]]);
    const whole = new Sending(7, { node: client, dialect });
    const sotw: Body = { ...body, variant: "sotw", type: CLUSTER };
    const [part] = whole.partsOf(sotw, typeStream(CLUSTER).traits, new ResponseSplitter());
    expect(part).toBe(sotw);
    const converting = new Sending(7, { node: client, dialect, conversion });
    expect(converting.partsOf(body, type.traits, new ResponseSplitter())).toEqual([converted]);
    expect(converted).not.toEqual(body);
  });
});
