/** Thrown for descriptors that cannot be used. `set` is the index of the added set; undefined for the built-in ones. */
export class DescriptorError extends Error {
  override readonly name = "DescriptorError";
  readonly set: number | undefined;

  constructor(message: string, set?: number, options?: ErrorOptions) {
    super(message, options);
    this.set = set;
  }
}
