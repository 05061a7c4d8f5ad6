import { chmod, lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { isMainThread } from "node:worker_threads";
import { startListening } from "../transport/start-listening.ts";

/** The file mode of the socket: only the user that runs the server may connect. */
const MODE = 0o600;

/** Without the byte that ends it; Node cuts off what is longer. */
const LONGEST_PATH = process.platform === "linux" ? 107 : 103;

/**
 * Listens at a path, in place of a socket that another server left behind. Rejects with the system's error, and for a path
 * that is too long with ENAMETOOLONG.
 */
export async function listenAtPath(
  server: Server,
  path: string,
  onFailedAccept: (cause: Error) => void,
): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (process.platform !== "win32" && bytes > LONGEST_PATH) {
    const message = `the path of a socket has at most ${LONGEST_PATH} bytes, ${JSON.stringify(path)} has ${bytes}`;
    throw Object.assign(new Error(message), { code: "ENAMETOOLONG" });
  }
  if (await isLeftBehind(path)) await unlink(path);
  // From its first moment on, not only after chmod. Threads cannot set it.
  const before = isMainThread ? process.umask(0o777 & ~MODE) : undefined;
  const listening = startListening(server, { path }, onFailedAccept);
  if (before !== undefined) process.umask(before);
  await listening;
  await chmod(path, MODE);
}

async function isLeftBehind(path: string): Promise<boolean> {
  // A connection to an ordinary file is refused too.
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return false;
  return await new Promise((resolve) => {
    const probe = connect({ path });
    probe.once("connect", () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
