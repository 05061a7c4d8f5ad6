import type { Resource } from "@xdskit/protocol";

type Method = (this: unknown, ...args: never[]) => unknown;
/** How many steps a call was, by what it was called on, what it was given and what it returned. */
type Weight = (on: { readonly length: number }, args: readonly unknown[], result: unknown) => number;

const one: Weight = () => 1;
const given: Weight = (_, args) => args.length;
const whole: Weight = ({ length }) => length;
const returned: Weight = (_, __, result) => (result as { readonly length: number }).length;
const upToFound: Weight = ({ length }, _, result) => (typeof result === "number" && result >= 0 ? result + 1 : length);

const iteratorOf = (collection: Iterable<unknown>): object =>
  Object.getPrototypeOf(collection[Symbol.iterator]()) as object;

/** Whatever takes one step for each thing it looks at. Loops over an index are seen by what they read. */
const counted: readonly (readonly [on: object, methods: readonly string[], weight: Weight])[] = [
  [Map.prototype, ["get", "has", "set", "delete"], one],
  [Set.prototype, ["has", "add", "delete"], one],
  [WeakMap.prototype, ["get", "has", "set"], one],
  [iteratorOf(new Map()), ["next"], one],
  [iteratorOf(new Set()), ["next"], one],
  [iteratorOf([]), ["next"], one],
  [Array.prototype, ["push"], given],
  [Array.prototype, ["slice", "concat", "splice"], returned],
  [Array.prototype, ["sort", "reverse", "join", "fill", "unshift", "shift"], whole],
  [Array.prototype, ["indexOf", "lastIndexOf"], upToFound],
  [Array.prototype, ["includes"], whole],
  [Object, ["keys", "values", "entries"], returned],
];
const calling = ["map", "flatMap", "filter", "some", "every", "find", "findIndex", "findLast", "forEach", "reduce"];

/** Counts steps instead of time: reads of watched resources, and what is done with collections. */
export class Work {
  #steps = 0;

  /** A resource of which every read is a step. */
  watch(resource: Resource): Resource {
    return new Proxy(resource, {
      get: (target, key) => {
        this.#steps++;
        return Reflect.get(target, key) as unknown;
      },
    });
  }

  /** The steps that something takes. */
  of(run: () => void): number {
    const stop = this.#count();
    this.#steps = 0;
    try {
      run();
      return this.#steps;
    } finally {
      stop();
    }
  }

  /** The most steps that something takes in one turn of the event loop. */
  async ofLongestTurn(run: () => Promise<unknown>): Promise<number> {
    const stop = this.#count();
    let isRunning = true;
    let most = 0;
    const endTurn = (): void => {
      most = Math.max(most, this.#steps);
      this.#steps = 0;
      if (isRunning) setImmediate(endTurn);
    };
    this.#steps = 0;
    setImmediate(endTurn);
    try {
      await run();
      endTurn();
      return most;
    } finally {
      isRunning = false;
      stop();
    }
  }

  /** Counts until the function that it returns is called. */
  #count(): () => void {
    const undo: (() => void)[] = [];
    const replace = (on: object, name: string, make: (original: Method) => Method): void => {
      const original = Reflect.get(on, name) as Method;
      Reflect.set(on, name, make(original));
      undo.push(() => Reflect.set(on, name, original));
    };
    for (const [on, methods, weight] of counted) {
      for (const name of methods) replace(on, name, (original) => this.#weighing(original, weight));
    }
    for (const name of calling) replace(Array.prototype, name, (original) => this.#countingCalls(original));
    return () => {
      for (let i = undo.length - 1; i >= 0; i--) undo[i]?.();
    };
  }

  #weighing(original: Method, weight: Weight): Method {
    const add = (steps: number): void => {
      this.#steps += steps;
    };
    return function (...args) {
      const result = Reflect.apply(original, this, args);
      add(weight(this as { readonly length: number }, args, result));
      return result;
    };
  }

  #countingCalls(original: Method): Method {
    const step = (): void => {
      this.#steps++;
    };
    return function (...args) {
      const [callback, ...rest] = args as unknown as [Method, ...never[]];
      const counting: Method = function (...given) {
        step();
        return Reflect.apply(callback, this, given);
      };
      return Reflect.apply(original, this, [counting, ...rest]);
    };
  }
}
