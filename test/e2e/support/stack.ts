/** Resources that are closed together, in reverse order. */
export interface Stack extends AsyncDisposable {
  /** Registers a resource to be closed, and returns it. */
  use<T extends AsyncDisposable | Disposable>(thing: T): T;
}

export function createStack(): Stack {
  const things: (AsyncDisposable | Disposable)[] = [];
  return {
    use(thing) {
      things.push(thing);
      return thing;
    },
    async [Symbol.asyncDispose]() {
      for (const thing of things.splice(0).reverse()) {
        if (Symbol.asyncDispose in thing) await thing[Symbol.asyncDispose]();
        else thing[Symbol.dispose]();
      }
    },
  };
}
