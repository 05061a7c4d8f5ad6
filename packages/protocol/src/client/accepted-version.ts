/** Which state of a type is in force, of those that servers told in State of the World (B-VER-02, B-VER-03). */
export class AcceptedVersion {
  #server: number | undefined;
  #version = "";

  /** What a server is told; undefined: what is held is not what a version of its own stands for. */
  of(server: number): string | undefined {
    return this.#server === server ? this.#version : undefined;
  }

  /** A response was accepted. */
  accept(server: number, version: string): void {
    this.#server = server;
    this.#version = version;
  }

  /** What is held is not what it stands for: something expired, was dropped, or was taken from a response that was refused. */
  forget(): void {
    this.#server = undefined;
  }
}
