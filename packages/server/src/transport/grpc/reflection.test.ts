import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import { bytesField } from "./fields.ts";
import { createReflectionAnswers } from "./reflection.ts";

const { reflection } = createEnvoyApi();

/** A `ServerReflectionRequest` for the file that declares a symbol, or for a file. */
const symbol = (name: string): Uint8Array => bytesField(4, name);
const file = (name: string): Uint8Array => bytesField(3, name);

test("two thousand of the same question cost what one does: all answers share what was made for the first", () => {
  const answer = createReflectionAnswers({ reflection }, []);
  const ask = (): Uint8Array | undefined => answer(symbol("envoy.config.bootstrap.v3.Bootstrap")).pieces[1];
  expect(new Set(Array.from({ length: 2_000 }, ask)).size).toBe(1);
});

test("every question about one file has the same answer, bytes and all", () => {
  const answer = createReflectionAnswers({ reflection }, []);
  const [, body] = answer(symbol("envoy.config.core.v3.Node")).pieces;
  expect(answer(symbol("envoy.config.core.v3.Locality")).pieces[1]).toBe(body);
  expect(answer(file("envoy/config/core/v3/base.proto")).pieces[1]).toBe(body);
});

test("answers that nobody asked for of late are let go, and made again", () => {
  const answer = createReflectionAnswers({ reflection }, []);
  const ask = (): Uint8Array | undefined => answer(symbol("envoy.config.core.v3.Node")).pieces[1];
  const first = ask();
  const names = reflection.services;
  for (const name of names) {
    answer(symbol(name));
    expect(ask()).toBe(first);
  }
  for (const name of names) answer(symbol(name));
  expect(names.length).toBeGreaterThan(32);
  expect(ask()).not.toBe(first);
  expect(ask()).toEqual(first);
});

test("a name that nobody knows is shown in part", () => {
  const { byteLength } = createReflectionAnswers({ reflection }, [])(symbol("x".repeat(10_000)));
  expect(byteLength).toBeLessThan(10_000 + 300);
});
