// Command gcpclient is measured beside our client: go-control-plane's client, which knows State of the World and everything of
// a type. What it hands over as Any is decoded here, and checked by its rules with -pgv. Commands come as lines on stdin, answers
// leave as lines of JSON on stdout.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/envoyproxy/go-control-plane/pkg/client/sotw/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

var (
	address = flag.String("address", "", "host:port of the server")
	pgv     = flag.Bool("pgv", false, "check each cluster by its rules")
)

type heldCluster struct {
	decoded *cluster.Cluster
	encoded []byte
}

var (
	mutex    sync.Mutex
	held     = map[string]heldCluster{}
	heldSize int
	told     int
	expected int
	event    string
	beganAt  time.Time
	beganCpu float64
)

func main() {
	flag.Parse()
	answer(map[string]any{"event": "ready", "cpuMs": cpuMillis()})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		switch words[0] {
		case "sync":
			begin("synced", words[1])
			go follow()
		case "arm":
			begin("received", words[1])
			answer(map[string]any{"event": "armed"})
		case "memory":
			tellMemory()
		}
	}
}

func begin(what, count string) {
	mutex.Lock()
	defer mutex.Unlock()
	n, err := strconv.Atoi(count)
	check(err)
	event, expected, told = what, n, 0
	beganAt, beganCpu = time.Now(), cpuMillis()
}

func follow() {
	conn, err := grpc.NewClient(*address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(256<<20)),
		grpc.WithInitialWindowSize(4<<20), grpc.WithInitialConnWindowSize(4<<20))
	check(err)
	client := sotw.NewADSClient(context.Background(), &core.Node{Id: "bench"}, resource.ClusterType)
	check(client.InitConnect(conn))
	for {
		response, err := client.Fetch()
		check(err)
		take(response)
		check(client.Ack())
	}
}

func take(response *sotw.Response) {
	mutex.Lock()
	defer mutex.Unlock()
	for _, one := range response.Resources {
		decoded := &cluster.Cluster{}
		check(one.UnmarshalTo(decoded))
		if *pgv {
			check(decoded.Validate())
		}
		before, isKnown := held[decoded.Name]
		if isKnown && bytes.Equal(before.encoded, one.Value) {
			continue
		}
		if !isKnown {
			heldSize += len(one.Value)
		}
		held[decoded.Name] = heldCluster{decoded, one.Value}
		if told++; told == expected {
			now := time.Now()
			answer(map[string]any{"event": event, "ms": float64(now.Sub(beganAt).Microseconds()) / 1000,
				"cpuMs": cpuMillis() - beganCpu, "at": fmt.Sprint(now.UnixNano()), "bytes": heldSize})
		}
	}
}

func tellMemory() {
	for range 4 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	status, err := os.ReadFile("/proc/self/statm")
	check(err)
	pages, err := strconv.Atoi(strings.Fields(string(status))[1])
	check(err)
	answer(map[string]any{"event": "memory", "heap": stats.HeapAlloc, "resident": pages * os.Getpagesize()})
}

func cpuMillis() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func answer(value map[string]any) {
	line, err := json.Marshal(value)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
