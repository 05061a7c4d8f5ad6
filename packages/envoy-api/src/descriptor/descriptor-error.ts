/** Descriptors that cannot be used. `set` says which of the added ones it is about, from 0; undefined for the built-in ones. */
export class DescriptorError extends Error {
  override readonly name = "DescriptorError";
  readonly set: number | undefined;

  constructor(message: string, set?: number, options?: ErrorOptions) {
    super(message, options);
    this.set = set;
  }
}
