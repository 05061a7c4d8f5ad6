/** A request that is malformed, or asks for something that does not exist. */
export class QueryError extends Error {
  override readonly name = "QueryError";
  readonly status: 400 | 404 | 413 | 503;
  readonly hint: string | undefined;

  constructor(status: QueryError["status"], message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** The parameters of one request. */
export class Query {
  readonly #parameters: URLSearchParams;
  readonly #inPath: ReadonlyMap<string, string>;

  /** `inPath`: parameters that are part of the path. Throws a `QueryError` for an unknown parameter. */
  constructor(parameters: URLSearchParams, known: readonly string[], inPath: ReadonlyMap<string, string> = new Map()) {
    this.#parameters = parameters;
    this.#inPath = inPath;
    for (const name of parameters.keys()) {
      if (known.includes(name)) continue;
      const hint = known.length === 0 ? "it takes no parameters" : `it takes ${known.join(", ")}`;
      throw new QueryError(400, `unknown parameter ${JSON.stringify(name)}`, hint);
    }
  }

  text(name: string): string | undefined {
    return this.#inPath.get(name) ?? this.#parameters.get(name) ?? undefined;
  }

  /** Every value of a parameter that may be repeated; undefined if there is none. */
  texts(name: string): ReadonlySet<string> | undefined {
    const values = this.#parameters.getAll(name);
    return values.length === 0 ? undefined : new Set(values);
  }

  /** A non-negative integer. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text))
      throw new QueryError(400, `${name}: expected a whole number, got ${JSON.stringify(text)}`);
    return Number(text);
  }

  /** False if absent; a bare `name` is true. */
  flag(name: string): boolean {
    const text = this.text(name);
    if (text === undefined || text === "false" || text === "0") return false;
    if (text === "" || text === "true" || text === "1") return true;
    throw new QueryError(400, `${name}: expected true or false, got ${JSON.stringify(text)}`);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = values.find((known) => known === text);
    if (value !== undefined) return value;
    throw new QueryError(400, `${name}: expected one of ${values.join(", ")}, got ${JSON.stringify(text)}`);
  }
}
