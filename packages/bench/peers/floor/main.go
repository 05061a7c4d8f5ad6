// Command floor answers like an xDS server that has nothing to decide: every stream gets the same prepared bytes. What the load
// client measures against it is the ceiling of load client, kernel and machine together.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

var (
	count = flag.Int("resources", 100, "resources of about 390 bytes in the first response")
	mutex sync.Mutex
	all   []net.Conn
)

func message(resources int) []byte {
	resource := append([]byte{0x12, 0xe8, 0x02}, make([]byte, 360)...) // field 2, 360 bytes
	body := append([]byte{0x0a, 1, 'v'}, bytes.Repeat(resource, resources)...)
	body = append(body, 0x2a, 1, 'n') // field 5: the nonce
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body)))
	return append(framed, body...)
}

// frames are HTTP/2 DATA frames of stream 1 that hold a message.
func frames(message []byte) []byte {
	var out bytes.Buffer
	framer := http2.NewFramer(&out, nil)
	for len(message) > 0 {
		n := min(len(message), 16384)
		framer.WriteData(1, false, message[:n])
		message = message[n:]
	}
	return out.Bytes()
}

func main() {
	flag.Parse()
	first, change := frames(message(*count)), frames(message(1))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("{\"event\":\"listening\",\"address\":\"%s\"}\n{\"event\":\"ready\"}\n", listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn, first)
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		mutex.Lock()
		began := time.Now().UnixNano()
		for _, conn := range all {
			conn.Write(change)
		}
		mutex.Unlock()
		fmt.Printf("{\"event\":\"changed\",\"at\":\"%d\"}\n", began)
	}
}

func serve(conn net.Conn, first []byte) {
	reader := bufio.NewReader(conn)
	preface := make([]byte, len(http2.ClientPreface))
	for read := 0; read < len(preface); {
		n, err := reader.Read(preface[read:])
		if err != nil {
			return
		}
		read += n
	}
	framer := http2.NewFramer(conn, reader)
	framer.WriteSettings()
	isAnswered := false
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				framer.WriteSettingsAck()
			}
		case *http2.DataFrame:
			framer.WriteWindowUpdate(0, uint32(max(1, len(f.Data()))))
			if isAnswered {
				continue
			}
			isAnswered = true
			var headers bytes.Buffer
			encoder := hpack.NewEncoder(&headers)
			encoder.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			encoder.WriteField(hpack.HeaderField{Name: "content-type", Value: "application/grpc"})
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers.Bytes(), EndHeaders: true})
			conn.Write(first)
			mutex.Lock()
			all = append(all, conn)
			mutex.Unlock()
		}
	}
}
