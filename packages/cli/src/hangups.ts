/** SIGHUP of this process. One that comes before there is a listener is kept for it. */
export class Hangups {
  readonly #end: () => void;
  readonly #hasLostTerminal: () => boolean;
  #listener: (() => void) | undefined;
  #isPending = false;
  #isHeld = false;

  /** `end` is called in place of the listener if SIGHUP comes because the terminal was closed. */
  constructor({ hasLostTerminal, end }: { readonly hasLostTerminal: () => boolean; readonly end: () => void }) {
    this.#hasLostTerminal = hasLostTerminal;
    this.#end = end;
  }

  /** From now on, SIGHUP does not end the process. */
  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    process.on("SIGHUP", () => this.#came());
  }

  /** Calls the listener with each SIGHUP, and at once if one was kept. */
  listen(listener: () => void): void {
    this.hold();
    this.#listener = listener;
    if (this.#isPending) listener();
    this.#isPending = false;
  }

  #came(): void {
    if (this.#hasLostTerminal()) this.#end();
    else if (this.#listener === undefined) this.#isPending = true;
    else this.#listener();
  }
}
