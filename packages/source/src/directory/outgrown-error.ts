/** The files exceed the total size limit. */
export class OutgrownError extends Error {
  constructor() {
    super("the files hold more than may be read");
    this.name = "OutgrownError";
  }
}
