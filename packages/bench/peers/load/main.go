// Command load is the load client of the benchmark: many xDS streams, on connections of their own or many on each, that
// acknowledge everything. It speaks HTTP/2 frames by itself and reads responses field by field without keeping them, so that it costs
// about the same whatever the server sends. Commands come as lines on stdin, answers leave as lines of JSON on stdout.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

var (
	address = flag.String("address", "", "host:port of the server")
	streams = flag.Int("streams", 1, "how many streams")
	shared  = flag.Int("connections", 0, "connections that the streams share; 0: each stream has its own")
	variant = flag.String("variant", "delta", "delta or sotw")
	service = flag.String("service", "envoy.service.discovery.v3.AggregatedDiscoveryService", "gRPC service")
	typeURL = flag.String("type", "type.googleapis.com/envoy.config.cluster.v3.Cluster", "resource type")
	nodeID  = flag.String("node", "bench", "node id")
	// A change has arrived when its endpoints have.
	endpoints = flag.Int("endpoints", 0, "delta only: asks for the endpoints of so many Clusters too, and for a route")
	// Who asks by name: some of the streams for the Cluster that changes, the others for Clusters that do not.
	names       = flag.Int("names", 0, "delta only: asks for so many Clusters by name; 0: for all there are")
	resources   = flag.Int("resources", 0, "Clusters that there are to ask for by name")
	subscribers = flag.Int("subscribers", 0, "streams that ask for the Cluster that changes; 0: all")
	ownNodes    = flag.Bool("own-nodes", false, "each stream is a node of its own")
)

// round counts who has received something since it was begun.
type round struct {
	times    []int64
	expected int64
	count    atomic.Int64
	done     chan struct{}
}

var current atomic.Pointer[round]
var bytesRead, resourcesRead atomic.Int64

// The responses since the last "arm", and when the newest of them came.
var responses, newest atomic.Int64

func newRound(expected int) *round {
	r := &round{times: make([]int64, *streams), expected: int64(expected), done: make(chan struct{})}
	current.Store(r)
	return r
}

func (r *round) note(stream int) {
	if !atomic.CompareAndSwapInt64(&r.times[stream], 0, time.Now().UnixNano()) {
		return
	}
	if r.count.Add(1) == r.expected {
		close(r.done)
	}
}

func (r *round) wait(limit time.Duration) (all bool) {
	select {
	case <-r.done:
		return true
	case <-time.After(limit):
		return false
	}
}

func main() {
	flag.Parse()
	var connections []*connection
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "connect", "reconnect":
			isAgain := lines.Text() == "reconnect"
			initial := reported()
			for _, c := range connections {
				c.conn.Close()
			}
			if !isAgain {
				initial = nil
			}
			r, before, resources, began := newRound(*streams), bytesRead.Load(), resourcesRead.Load(), time.Now()
			connections = connectAll(initial)
			all := r.wait(300 * time.Second)
			times := received(r.times)
			answer(map[string]any{"event": "synced", "all": all, "ms": millis(time.Since(began)), "bytes": bytesRead.Load() - before,
				"resources": resourcesRead.Load() - resources, "middle": float64(times[len(times)/2]-began.UnixNano()) / 1e6})
		case "arm":
			responses.Store(0)
			newRound(listeners())
			answer(map[string]any{"event": "armed", "bytes": bytesRead.Load()})
		case "more":
			r, began := newRound(1), time.Now()
			connections[0].ask(connections[0].calls[0], moreRequest())
			all := r.wait(300 * time.Second)
			answer(map[string]any{"event": "answered", "all": all, "ms": millis(time.Since(began))})
		case "wait":
			r := current.Load()
			all := r.wait(120 * time.Second)
			times := received(r.times)
			answer(map[string]any{"event": "received", "all": all, "first": fmt.Sprint(times[0]), "middle": fmt.Sprint(times[len(times)/2]), "last": fmt.Sprint(times[len(times)-1]), "bytes": bytesRead.Load()})
		case "tally":
			answer(map[string]any{"event": "tallied", "responses": responses.Load(), "last": fmt.Sprint(newest.Load())})
		case "quit":
			return
		}
	}
}

// reported is what streams that come back hold. Who asks by name lacks one of them, for nobody is answered who lacks nothing.
func reported() []heldResource {
	if *names == 0 || len(held) == 0 {
		return held
	}
	return held[:len(held)-1]
}

// listeners is how many streams a change is for.
func listeners() int {
	if *names == 0 || *subscribers == 0 {
		return *streams
	}
	return *subscribers
}

// received is when something came, the earliest first, of those to which anything came.
func received(times []int64) []int64 {
	var out []int64
	for i := range times {
		if at := atomic.LoadInt64(&times[i]); at != 0 {
			out = append(out, at)
		}
	}
	if len(out) == 0 {
		return []int64{0}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func answer(value map[string]any) {
	line, _ := json.Marshal(value)
	fmt.Println(string(line))
}

func connectAll(initial []heldResource) []*connection {
	connections := make([]*connection, connectionCount())
	var wait sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range connections {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wait.Done() }()
			c, err := connect(i, len(connections), initial)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			connections[i] = c
		}()
	}
	wait.Wait()
	return connections
}

func connectionCount() int {
	if *shared == 0 {
		return *streams
	}
	return min(*shared, *streams)
}

type connection struct {
	// Held by who writes.
	mutex  sync.Mutex
	conn   net.Conn
	in     *bufio.Reader
	framer *http2.Framer
	out    *bufio.Writer
	// In the order of their numbers in HTTP/2: 1, 3, 5.
	calls         []*call
	window        int
	initialWindow int
}

// call is one stream of a connection.
type call struct {
	index  int
	id     uint32
	reader responseReader
	// Endpoints and the route were asked for.
	hasAsked bool
	// What waits for the server's windows: a request that names 100,000 versions is larger than those.
	queued []byte
	window int
	// Resources of the first answer that have not come yet: a server may divide it into several responses.
	awaited int
}

const (
	largest       = 1<<31 - 1
	defaultWindow = 65535
)

// connect opens one of so many connections, and its share of the streams.
func connect(first, step int, initial []heldResource) (*connection, error) {
	conn, err := net.Dial("tcp", *address)
	if err != nil {
		return nil, err
	}
	c := &connection{conn: conn, in: bufio.NewReaderSize(conn, 1<<16), out: bufio.NewWriterSize(conn, 1<<14),
		window: defaultWindow, initialWindow: defaultWindow}
	c.framer = http2.NewFramer(c.out, c.in)
	c.framer.SetReuseFrames()
	c.out.WriteString(http2.ClientPreface)
	c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: largest},
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0})
	c.framer.WriteWindowUpdate(0, largest-defaultWindow)
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	for index := first; index < *streams; index += step {
		c.open(index, encoder, &headers, initial)
	}
	if err := c.out.Flush(); err != nil {
		return nil, err
	}
	go c.read()
	return c, nil
}

func (c *connection) open(index int, encoder *hpack.Encoder, headers *bytes.Buffer, initial []heldResource) {
	one := &call{index: index, id: uint32(2*len(c.calls) + 1), window: defaultWindow}
	one.reader.capture = index == 0
	one.awaited = *names - len(initial)
	c.calls = append(c.calls, one)
	headers.Reset()
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", "/" + *service + "/" + method()},
		{":authority", *address}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: one.id, BlockFragment: headers.Bytes(), EndHeaders: true})
	c.send(one, firstRequest(index, initial))
}

func method() string {
	isAggregated := *service == "envoy.service.discovery.v3.AggregatedDiscoveryService"
	switch {
	case *variant == "delta" && isAggregated:
		return "DeltaAggregatedResources"
	case *variant == "delta":
		return "DeltaClusters"
	case isAggregated:
		return "StreamAggregatedResources"
	}
	return "StreamClusters"
}

// send frames one gRPC message.
func (c *connection) send(to *call, message []byte) {
	to.queued = append(to.queued, 0, byte(len(message)>>24), byte(len(message)>>16), byte(len(message)>>8), byte(len(message)))
	to.queued = append(to.queued, message...)
	c.drain(to)
}

// ask sends a request of somebody who is not the reader of the connection.
func (c *connection) ask(to *call, message []byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.send(to, message)
	c.out.Flush()
}

// drain writes what the server's windows have room for, in as many DATA frames as it takes.
func (c *connection) drain(to *call) {
	for {
		n := min(len(to.queued), 16384, c.window, to.window)
		if n <= 0 {
			return
		}
		c.framer.WriteData(to.id, false, to.queued[:n])
		to.queued = to.queued[n:]
		c.window -= n
		to.window -= n
	}
}

func (c *connection) drainAll() {
	for _, one := range c.calls {
		c.drain(one)
	}
}

func (c *connection) read() {
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		c.take(frame)
	}
}

func (c *connection) take(frame http2.Frame) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
				for _, one := range c.calls {
					one.window += int(size) - c.initialWindow
				}
				c.initialWindow = int(size)
			}
			c.framer.WriteSettingsAck()
			c.drainAll()
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			c.window += int(f.Increment)
		} else {
			c.calls[f.StreamID/2].window += int(f.Increment)
		}
		c.drainAll()
	case *http2.PingFrame:
		if !f.IsAck() {
			c.framer.WritePing(true, f.Data)
		}
	case *http2.DataFrame:
		bytesRead.Add(int64(len(f.Data())))
		one := c.calls[f.StreamID/2]
		one.reader.feed(f.Data(), func(version, nonce, answered []byte) { c.received(one, version, nonce, answered) })
	case *http2.GoAwayFrame:
		fmt.Fprintln(os.Stderr, "the server went away:", f.ErrCode, string(f.DebugData()))
		os.Exit(1)
	case *http2.RSTStreamFrame:
		fmt.Fprintln(os.Stderr, "the server ended a stream:", f.ErrCode)
		os.Exit(1)
	case *http2.HeadersFrame:
		if f.StreamEnded() {
			fmt.Fprintln(os.Stderr, "the server ended a stream with trailers")
			os.Exit(1)
		}
	}
	// What one read brought is answered in one write.
	if c.in.Buffered() == 0 {
		c.out.Flush()
	}
}

// received is called once per response.
func (c *connection) received(one *call, version, nonce, answered []byte) {
	if len(answered) == 0 { // a server that decides nothing says nothing of it
		answered = []byte(*typeURL)
	}
	c.send(one, ack(version, nonce, answered))
	if *endpoints > 0 && !one.hasAsked {
		one.hasAsked = true
		c.send(one, routeRequest())
		c.send(one, endpointRequest(*endpoints))
	}
	one.awaited -= one.reader.resources
	resourcesRead.Add(int64(one.reader.resources))
	responses.Add(1)
	newest.Store(time.Now().UnixNano())
	if one.awaited <= 0 && (*endpoints == 0 || string(answered) == endpointType) {
		current.Load().note(one.index)
	}
}
