import { describe, expect, test } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, failure, resource } from "../../../test/support/resources.ts";
import { typeStream } from "../../../test/support/type-streams.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Body } from "../../message/body.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import { statusCode } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription } from "../subscription/subscription.ts";
import { SentErrors, withMissing } from "./sent-errors.ts";
import type { PendingResponse, TypeStream } from "./type-stream.ts";

const { INTERNAL, NOT_FOUND, PERMISSION_DENIED } = statusCode;
const rules = { legacyWildcard: true, wildcardSticky: false };

/** The errors of one client in a layer that the test writes. */
class Errors {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly sent: SentErrors;
  readonly stream: TypeStream;
  readonly dialect: Dialect;
  readonly type: TypeUrl;
  readonly #variant: Body["variant"];
  #revision = 0;

  constructor(
    variant: Body["variant"],
    {
      ignoresHints = false,
      dialect = {},
      type = ENDPOINTS,
    }: { readonly ignoresHints?: boolean; readonly dialect?: Partial<Dialect>; readonly type?: TypeUrl } = {},
  ) {
    this.#variant = variant;
    this.type = type;
    this.stream = typeStream(type);
    this.sent = new SentErrors(variant, ignoresHints);
    this.dialect = { ...dialectFor(node("n")), ...dialect };
  }

  put(...puts: readonly Resource[]): void {
    this.base.put(++this.#revision, ...puts);
    this.responses.advance(this.#revision, undefined);
  }

  delete(name: string): void {
    this.base.tableFor(this.type).delete(name, ++this.#revision);
    this.responses.advance(this.#revision, undefined);
  }

  fail(code: number, ...names: readonly string[]): void {
    this.put(...names.map((name) => failure(this.type, name, code)));
  }

  /** What the answers say with errors: their resources and names, and `!name` for an error. */
  add(answers: readonly PendingResponse[] = [], wasBlocked = false): readonly string[] {
    const flush = { current: this.current, dialect: this.dialect, wasBlocked };
    return this.sent.add(answers, this.stream, flush).map(({ body }) => said(body));
  }

  answer(segment: Partial<Body["segments"][number]>, more: Partial<PendingResponse> = {}): PendingResponse {
    const segments = [{ puts: [], removed: [], missing: [], ...segment }];
    const body = { variant: this.#variant, type: this.type, version: "v", segments };
    return { body, isInOrder: true, news: [], ...more };
  }

  asks(...names: readonly string[]): void {
    this.stream.subscription.replace(names);
  }

  /** What is remembered after a request. */
  after(request: DiscoveryRequest): readonly string[] {
    this.sent.onRequest(request, this.stream.subscription);
    return [...this.sent.sent.keys()];
  }
}

function said({ segments }: Body): string {
  return segments
    .flatMap(({ puts, removed, missing, errors = [] }) => [
      ...puts.map(({ name }) => name),
      ...removed.map((name) => `-${name}`),
      ...missing.map((name) => `?${name}`),
      ...errors.map(({ name }) => `!${name}`),
    ])
    .join(" ");
}

describe("S-ERR-02: an error is sent once", () => {
  test.each(["delta", "sotw"] as const)("in %s, and once more only if it changes", (variant) => {
    const errors = new Errors(variant);
    expect(errors.add()).toEqual([]);
    errors.fail(INTERNAL, "x", "y");
    expect([errors.add(), errors.add(), [...errors.sent.sent.keys()]]).toEqual([["!x !y"], [], ["x", "y"]]);
    errors.fail(NOT_FOUND, "x");
    expect([errors.add(), errors.add()]).toEqual([["!x"], []]);
  });

  test("with the last of the answers, which is the same body for all who are sent the same", () => {
    for (const variant of ["delta", "sotw"] as const) {
      const [one, other] = [new Errors(variant), new Errors(variant)];
      one.fail(INTERNAL, "x");
      const answers = [one.answer({ puts: [cluster("a", "1")] }), one.answer({ puts: [cluster("b", "1")] })];
      expect(one.add(answers)).toEqual(["a", "b !x"]);
      const flush = { current: one.current, dialect: one.dialect, wasBlocked: false };
      const bodies = [other, new Errors(variant)].map(
        ({ sent, stream }) => sent.add(answers, stream, flush).at(-1)?.body,
      );
      expect(bodies[0]).toBe(bodies[1]);
      expect(one.add([one.answer({ puts: [cluster("c", "1")] })])).toEqual(["c"]);
    }
  });

  test("not while newer content has to wait, unless an answer is in order", () => {
    for (const variant of ["delta", "sotw"] as const) {
      const errors = new Errors(variant);
      errors.fail(INTERNAL, "x");
      const outOfOrder = errors.answer({ puts: [cluster("a", "1")] }, { isInOrder: false });
      expect([errors.add([], true), errors.add([outOfOrder], true), [...errors.sent.sent]]).toEqual([[], ["a"], []]);
      expect(errors.add([errors.answer({ puts: [cluster("a", "1")] })], true)).toEqual(["a !x"]);
    }
  });

  test("in place of a name that an answer out of order has as missing, which is not sent again in order", () => {
    const errors = new Errors("delta");
    errors.fail(INTERNAL, "x", "y");
    const answer = errors.answer({ removed: ["x"] }, { isInOrder: false });
    expect([errors.add([answer], true), [...errors.sent.sent.keys()], errors.add()]).toEqual([["!x"], ["x"], ["!y"]]);
  });

  test("beside the name where the client waits for it, or where the error is final", () => {
    const errors = new Errors("delta", { dialect: { errorsEndWaiting: false } });
    errors.fail(INTERNAL, "x", "y");
    errors.fail(PERMISSION_DENIED, "z");
    const answer = errors.answer({ removed: ["x", "y", "z"] }, { asked: new Set(["y"]) });
    expect(errors.add([answer])).toEqual(["-y -z !x !y !z"]);
    const reads = new Errors("delta", { dialect: { errorsEndWaiting: true } });
    reads.fail(PERMISSION_DENIED, "x", "y");
    expect(reads.add([reads.answer({ removed: ["x", "y"] }, { asked: new Set(["y"]) })])).toEqual(["!x !y"]);
  });

  test("and takes what was kept under another error from a client that reads no errors, if it is final", () => {
    const after = (first: number, second: number, dialect: Partial<Dialect>): unknown => {
      const errors = new Errors("delta", { dialect });
      errors.fail(first, "x");
      errors.add();
      errors.fail(second, "x", "new");
      return errors.add();
    };
    const reads = { errorsEndWaiting: true };
    const blind = { errorsEndWaiting: false };
    expect([
      after(INTERNAL, PERMISSION_DENIED, blind),
      after(INTERNAL, PERMISSION_DENIED, reads),
      after(NOT_FOUND, PERMISSION_DENIED, blind),
      after(INTERNAL, INTERNAL, blind),
      after(INTERNAL, NOT_FOUND, { ...blind, deltaMissing: { otherwise: "none" } }),
    ]).toEqual([["-x !x !new"], ["!x !new"], ["!x !new"], ["!new"], ["!x !new"]]);
  });
});

describe("a lifted error", () => {
  test("in delta removes what the client kept, if it subscribes to the name and nothing has it", () => {
    const lifted = (asks: readonly string[], isBack: boolean): unknown => {
      const errors = new Errors("delta");
      errors.asks("x", ...asks);
      errors.fail(INTERNAL, "x");
      errors.add();
      if (isBack) errors.put(resource(ENDPOINTS, "x", "1"));
      else errors.delete("x");
      errors.stream.subscription.replace(asks);
      return errors.add();
    };
    expect([lifted(["x"], false), lifted(["x"], true), lifted(["y"], false), lifted(["*"], false)]).toEqual([
      ["-x"],
      [],
      [],
      ["-x"],
    ]);
  });

  test("in State of the World needs the full state of a full-state type, and nothing of another", () => {
    const lifted = (type: TypeUrl): unknown => {
      const errors = new Errors("sotw", { type });
      errors.put(resource(type, "a", "1", { references: [] }));
      errors.fail(INTERNAL, "x");
      const first = errors.add();
      errors.delete("x");
      const second = errors.add();
      errors.fail(INTERNAL, "y");
      errors.add();
      errors.put(resource(type, "y", "1", { references: [] }));
      return [first, second, errors.add()];
    };
    expect([lifted(CLUSTER), lifted(ENDPOINTS)]).toEqual([
      [["a !x"], ["a"], []],
      [["!x"], [], []],
    ]);
  });
});

describe("S-ERR-02: the error of a name is sent again after the client gave the name up", () => {
  function told(variant: Body["variant"], ignoresHints = false): Errors {
    const errors = new Errors(variant, { ignoresHints });
    errors.fail(INTERNAL, "x", "y");
    errors.add();
    return errors;
  }

  test("in delta by unsubscribing from it, or from the wildcard if that covered it", () => {
    const after = (unsubscribe: readonly string[], ...left: readonly string[]): unknown => {
      const errors = told("delta");
      errors.stream.onRequest(delta(ENDPOINTS, { unsubscribe: ["*"], subscribe: left }));
      return errors.after(delta(ENDPOINTS, { unsubscribe, nonce: "1" }));
    };
    expect([after([]), after(["x"]), after(["*"], "x"), after(["*"]), after(["x", "y"])]).toEqual([
      ["x", "y"],
      ["y"],
      ["x"],
      [],
      [],
    ]);
  });

  test("in State of the World by not listing it, or by a request without a nonce", () => {
    const after = (names: readonly string[], nonce: string | undefined, ...asks: readonly string[]): unknown => {
      const errors = told("sotw");
      errors.asks(...asks);
      return errors.after(sotw(ENDPOINTS, { names, nonce }));
    };
    expect([
      after(["x"], "1", "x", "y"),
      after(["x", "y"], "1", "x", "y"),
      after(["*"], "1", "x", "y"),
      after([], "1"),
      after([], "1", "x"),
      after(["x"], "1"),
      after(["x", "y"], undefined, "x", "y"),
    ]).toEqual([["x"], ["x", "y"], ["x", "y"], ["x", "y"], [], ["x"], []]);
  });

  test("not if names are hints and this one was never listed", () => {
    const errors = told("sotw", true);
    const list = (nonce: string | undefined, ...names: readonly string[]): unknown =>
      errors.after(sotw(ENDPOINTS, { names, nonce }));
    errors.asks("x");
    expect([list("1", "x"), list("1", "z"), list("1", "y"), list("1", "z")]).toEqual([["x"], [], [], []]);
    const other = told("sotw", true);
    other.asks("x");
    expect(other.after(sotw(ENDPOINTS, { names: ["z"], nonce: undefined }))).toEqual([]);
  });
});

describe("S-RES-15: a name without a resource has an error where that is switched on", () => {
  test("unless it has another one, or a placeholder", () => {
    const listed = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1"), failure(ENDPOINTS, "e", INTERNAL)]);
    const subscription = new Subscription(rules);
    subscription.replace(["a", "e", "x"]);
    const view = viewOf(listed);
    const own = view.errors(ENDPOINTS);
    const placeholder = (): Uint8Array => new Uint8Array(0);
    const missing = (of: { readonly placeholder?: typeof placeholder }): unknown =>
      [...withMissing(own, subscription, { type: ENDPOINTS, ...of }, view).values()].map(({ name, error }) => [
        name,
        error?.code,
      ]);
    expect([missing({}), missing({ placeholder })]).toEqual([
      [
        ["e", INTERNAL],
        ["a", NOT_FOUND],
        ["x", NOT_FOUND],
      ],
      [
        ["e", INTERNAL],
        ["x", NOT_FOUND],
      ],
    ]);
    subscription.replace(["e"]);
    expect(withMissing(own, subscription, { type: ENDPOINTS }, view)).toBe(own);
  });

  test("in State of the World only", () => {
    const told = (variant: Body["variant"], on: Dialect["resourceErrors"]): unknown => {
      const errors = new Errors(variant, { dialect: { resourceErrors: on } });
      errors.asks("x");
      return errors.add();
    };
    expect([told("sotw", "failed-and-missing"), told("sotw", "failed"), told("delta", "failed-and-missing")]).toEqual([
      ["!x"],
      [],
      [],
    ]);
  });
});

test("where names are hints, those of the newest request are kept, and count", () => {
  const hinting = new Errors("sotw", { ignoresHints: true });
  const plain = new Errors("sotw");
  const counts = [["a", "b", "a"], ["l".repeat(257)], []].map((names) => {
    for (const one of [hinting, plain]) one.after(sotw(ENDPOINTS, { names, nonce: "stale" }));
    return [hinting.sent.namesKept, plain.sent.namesKept];
  });
  expect(counts).toEqual([
    [2, 0],
    [2, 0],
    [0, 0],
  ]);
});
