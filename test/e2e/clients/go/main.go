// A gRPC client that is configured over xDS. It speaks the lines of test/e2e/clients/README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	_ "google.golang.org/grpc/xds"
)

type command struct {
	ID         int     `json:"id"`
	Do         string  `json:"do"`
	Target     string  `json:"target"`
	Rate       float64 `json:"rate"`
	DeadlineMs int     `json:"deadlineMs"`
}

type failure struct {
	Code  string `json:"code"`
	Text  string `json:"text"`
	Count int    `json:"count"`
}

type counts struct {
	Ok     map[string]int `json:"ok"`
	Failed []*failure     `json:"failed"`
	Last   string         `json:"last"`
}

// load is the calls to one target, at a rate, until it is stopped.
type load struct {
	mu     sync.Mutex
	counts counts
	conn   *grpc.ClientConn
	stop   context.CancelFunc
}

// rawCodec lets bytes through as they are.
type rawCodec struct{}

func (rawCodec) Marshal(value any) ([]byte, error) { return *value.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, value any) error {
	*value.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string { return "raw" }

func startLoad(c command) (*load, error) {
	// Version 1.51.0, which speaks v2, has no NewClient.
	conn, err := grpc.Dial("xds:///"+c.Target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{counts: counts{Ok: map[string]int{}, Failed: []*failure{}}, conn: conn, stop: cancel}
	slots := make(chan struct{}, 256)
	go func() {
		ticker := time.NewTicker(time.Duration(float64(time.Second) / c.Rate))
		defer ticker.Stop()
		for {
			select {
			case slots <- struct{}{}:
				go func() { defer func() { <-slots }(); l.call(ctx, time.Duration(c.DeadlineMs)*time.Millisecond) }()
			default:
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return l, nil
}

func (l *load) call(ctx context.Context, deadline time.Duration) {
	callCtx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	in, out := []byte{}, []byte{}
	err := l.conn.Invoke(callCtx, "/echo.Echo/Echo", &in, &out, grpc.ForceCodec(rawCodec{}))
	if ctx.Err() != nil {
		return // the target was removed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.counts.Ok[string(out)]++
		l.counts.Last = string(out)
		return
	}
	code, text := codeName(status.Code(err).String()), status.Convert(err).Message()
	l.counts.Last = code
	for _, f := range l.counts.Failed {
		if f.Code == code && f.Text == text {
			f.Count++
			return
		}
	}
	if len(l.counts.Failed) < 100 {
		l.counts.Failed = append(l.counts.Failed, &failure{code, text, 1})
	}
}

func (l *load) report() json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, _ := json.Marshal(l.counts)
	return text
}

// codeName turns Go's name of a code into the one that all clients print.
func codeName(name string) string {
	out := ""
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			out += "_"
		}
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		out += string(r)
	}
	return out
}

func main() {
	say := func(value any) {
		text, _ := json.Marshal(value)
		fmt.Println(string(text))
	}
	loads := map[string]*load{}
	say(map[string]any{"ready": true, "client": "grpc-go", "version": grpc.Version})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			say(map[string]any{"error": err.Error()})
			continue
		}
		switch c.Do {
		case "add":
			l, err := startLoad(c)
			if err != nil {
				say(map[string]any{"id": c.ID, "error": err.Error()})
				continue
			}
			loads[c.Target] = l
			say(map[string]any{"id": c.ID})
		case "remove":
			if l, ok := loads[c.Target]; ok {
				l.stop()
				l.conn.Close()
				delete(loads, c.Target)
			}
			say(map[string]any{"id": c.ID})
		case "report":
			targets := map[string]json.RawMessage{}
			for name, l := range loads {
				targets[name] = l.report()
			}
			say(map[string]any{"id": c.ID, "targets": targets})
		case "quit":
			say(map[string]any{"id": c.ID})
			return
		default:
			say(map[string]any{"id": c.ID, "error": "unknown command " + c.Do})
		}
	}
}
