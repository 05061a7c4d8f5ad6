// A gRPC client that is configured over xDS. It speaks the protocol of test/e2e/clients/README.md.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// The library reads GRPC_XDS_BOOTSTRAP when it is loaded, and is CommonJS.
const require = createRequire(import.meta.url);
const grpc = require("@grpc/grpc-js");
const xds = require("@grpc/grpc-js-xds");
xds.register();

const loads = new Map();
const version = JSON.parse(
  readFileSync(new URL("../../../../node_modules/@grpc/grpc-js-xds/package.json", import.meta.url), "utf8"),
).version;
say({ ready: true, client: "grpc-node", version });

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = { id: command.id };
  switch (command.do) {
    case "add":
      loads.set(command.target, startLoad(command));
      break;
    case "remove":
      loads.get(command.target)?.stop();
      loads.delete(command.target);
      break;
    case "report":
      answer.targets = Object.fromEntries([...loads].map(([name, load]) => [name, load.report()]));
      break;
    case "status":
      answer.status = (await fetchStatus()).toString("base64");
      break;
    case "quit":
      break;
    default:
      answer.error = `unknown command ${command.do}`;
  }
  say(answer);
  if (command.do === "quit") process.exit(0);
}
process.exit(0);

/** Calls a target at a steady rate until stopped. */
function startLoad({ target, rate, deadlineMs }) {
  const client = new grpc.Client(`xds:///${target}`, grpc.credentials.createInsecure());
  const ok = {};
  const failed = new Map();
  let last = "";
  let inFlight = 0;
  let stopped = false;
  const call = () => {
    if (inFlight >= 256) return;
    inFlight += 1;
    const options = { deadline: Date.now() + deadlineMs };
    client.makeUnaryRequest("/echo.Echo/Echo", same, same, Buffer.alloc(0), options, (error, value) => {
      inFlight -= 1;
      if (stopped) return;
      if (error === null) {
        last = value.toString();
        ok[last] = (ok[last] ?? 0) + 1;
        return;
      }
      last = grpc.status[error.code];
      const key = `${last} ${error.details}`;
      const known = failed.get(key);
      if (known !== undefined) known.count += 1;
      else if (failed.size < 100) failed.set(key, { code: last, text: error.details, count: 1 });
    });
  };
  const timer = setInterval(call, 1000 / rate);
  return {
    report: () => ({ ok, failed: [...failed.values()], last }),
    stop() {
      stopped = true;
      clearInterval(timer);
      client.close();
    },
  };
}

/** Fetches the client's own status over CSDS. */
async function fetchStatus() {
  const server = new grpc.Server();
  grpc.addAdminServicesToServer(server);
  const port = await new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const path = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
  try {
    return await new Promise((resolve, reject) =>
      client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error, value) =>
        error === null ? resolve(value) : reject(error),
      ),
    );
  } finally {
    client.close();
    server.forceShutdown();
  }
}

function same(value) {
  return value;
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
