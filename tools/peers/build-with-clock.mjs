#!/usr/bin/env node
/**
 * Builds a Go program whose clock can be set, into a directory: `time.Now` is ahead by as many seconds as the file says that
 * XDS_CHAOS_CLOCK names, and monotonic time goes on. Go asks the kernel for the time and not the C library, so libfaketime
 * does not reach such a program; this lays its own clock over the one of the standard library for one build, and changes nothing else.
 *
 *   node tools/peers/build-with-clock.mjs DIRECTORY PACKAGE    in the module that has the package
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CLOCK = `package time

import (
	"sync/atomic"
	"syscall"
)

var secondsAhead atomic.Int64

// The runtime asks for the time where nothing may be read, so another goroutine looks at the file, ten times a second.
func init() {
	file, _ := syscall.Getenv("XDS_CHAOS_CLOCK")
	if file == "" {
		return
	}
	secondsAhead.Store(readSeconds(file))
	go func() {
		for {
			Sleep(100 * Millisecond)
			secondsAhead.Store(readSeconds(file))
		}
	}()
}

func readSeconds(file string) int64 {
	fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(fd)
	var text [32]byte
	n, _ := syscall.Read(fd, text[:])
	seconds, sign := int64(0), int64(1)
	for _, c := range text[:max(n, 0)] {
		switch {
		case c == '-':
			sign = -1
		case c >= '0' && c <= '9':
			seconds = seconds*10 + int64(c-'0')
		}
	}
	return sign * seconds
}
`;
const READS = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n";

const [directory, program] = process.argv.slice(2);
const go = (...args) => execFileSync("go", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
const time = join(go("env", "GOROOT").trim(), "src/time");
const [before, after, ...others] = readFileSync(join(time, "time.go"), "utf8").split(READS);
if (after === undefined || others.length > 0) throw new Error("this Go reads its clock in another way");

mkdirSync(directory, { recursive: true });
const write = (name, text) => {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
};
const overlay = write(
  "overlay.json",
  JSON.stringify({
    Replace: {
      [join(time, "time.go")]: write("time.go.txt", `${before}${READS}\tsec += secondsAhead.Load()\n${after}`),
      [join(time, "clock.go")]: write("clock.go.txt", CLOCK),
    },
  }),
);
go("build", "-trimpath", "-ldflags=-s -w", `-overlay=${overlay}`, "-o", join(directory, "etcd"), program);
