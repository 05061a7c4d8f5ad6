/** The last accepted State of the World version of a type, and the server that sent it (B-VER-02, B-VER-03). */
export class AcceptedVersion {
  #server: number | undefined;
  #version = "";

  /** Returns the version to send to a server; undefined if none of its versions stands for what is held. */
  of(server: number): string | undefined {
    return this.#server === server ? this.#version : undefined;
  }

  /** Records the version of an accepted response. */
  accept(server: number, version: string): void {
    this.#server = server;
    this.#version = version;
  }

  /**
   * Drops the version, because the held resources no longer match it: one expired, was dropped, or came from a rejected
   * response.
   */
  forget(): void {
    this.#server = undefined;
  }
}
