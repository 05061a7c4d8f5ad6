"""A gRPC client that is configured over xDS. It speaks the lines of test/e2e/clients/README.md."""

import base64
import json
import sys
import threading
import time

import grpc
from grpc._cython import cygrpc


class Load:
    """The calls to one target, at a rate, until it is stopped."""

    def __init__(self, target, rate, deadline_ms):
        self.lock = threading.Lock()
        self.ok = {}
        self.failed = {}
        self.last = ""
        self.in_flight = 0
        self.stopped = threading.Event()
        self.period = 1 / rate
        self.deadline = deadline_ms / 1000
        self.channel = grpc.insecure_channel("xds:///" + target)
        self.call = self.channel.unary_unary(
            "/echo.Echo/Echo", request_serializer=lambda value: value, response_deserializer=lambda value: value
        )
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        due = time.monotonic()
        while not self.stopped.is_set():
            with self.lock:
                free = self.in_flight < 256
                self.in_flight += 1 if free else 0
            if free:
                self.call.future(b"", timeout=self.deadline).add_done_callback(self.done)
            due = max(due + self.period, time.monotonic() - 1)
            self.stopped.wait(max(0, due - time.monotonic()))

    def done(self, call):
        with self.lock:
            self.in_flight -= 1
            if self.stopped.is_set():
                return
            code = call.code()
            if code == grpc.StatusCode.OK:
                self.last = call.result().decode()
                self.ok[self.last] = self.ok.get(self.last, 0) + 1
            else:
                self.last = code.name
                key = (code.name, call.details() or "")
                if key in self.failed or len(self.failed) < 100:
                    self.failed[key] = self.failed.get(key, 0) + 1

    def report(self):
        with self.lock:
            failed = [{"code": code, "text": text, "count": count} for (code, text), count in self.failed.items()]
            return {"ok": dict(self.ok), "failed": failed, "last": self.last}

    def stop(self):
        self.stopped.set()
        self.thread.join()
        self.channel.close()


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main():
    loads = {}
    say({"ready": True, "client": "grpc-python", "version": grpc.__version__})
    for line in sys.stdin:
        command = json.loads(line)
        answer = {"id": command["id"]}
        if command["do"] == "add":
            loads[command["target"]] = Load(command["target"], command["rate"], command["deadlineMs"])
        elif command["do"] == "remove":
            load = loads.pop(command["target"], None)
            if load is not None:
                load.stop()
        elif command["do"] == "report":
            answer["targets"] = {name: load.report() for name, load in loads.items()}
        elif command["do"] == "status":
            # What the CSDS service of grpcio-csds serves; without its generated messages.
            answer["status"] = base64.b64encode(cygrpc.dump_xds_configs()).decode()
        elif command["do"] != "quit":
            answer["error"] = "unknown command " + command["do"]
        say(answer)
        if command["do"] == "quit":
            break
    for load in loads.values():
        load.stop()


main()
