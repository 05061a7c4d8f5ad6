// Starts go-control-plane servers for the conformance kit and feeds them snapshots.
//
// Reads one JSON command per line from standard input and answers each with one line on standard output:
//
//	{"do":"start","server":1,"ads":true}                 -> {"address":"127.0.0.1:40001"}
//	{"do":"set","server":1,"node":"n1","types":[...]}    -> {}
//	{"do":"stop","server":1}                             -> {}
//
// A type is {"url","version","resources":[base64 of the encoded message, ...]}. What the library cannot hold is answered
// with {"unsupported":"why"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"

	cluster "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	extension "github.com/envoyproxy/go-control-plane/envoy/service/extension/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	runtime "github.com/envoyproxy/go-control-plane/envoy/service/runtime/v3"
	secret "github.com/envoyproxy/go-control-plane/envoy/service/secret/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	xds "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	// The messages that the cases publish, so that they are found by their type URLs.
	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

type command struct {
	Do     string
	Server int
	ADS    bool
	Node   string
	Types  []typeState
}

type typeState struct {
	URL       string
	Version   string
	Resources [][]byte
}

type answer struct {
	Address     string `json:"address,omitempty"`
	Unsupported string `json:"unsupported,omitempty"`
}

type server struct {
	snapshots cache.SnapshotCache
	grpc      *grpc.Server
	cancel    context.CancelFunc
}

func main() {
	servers := map[int]*server{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var line command
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			fail(err)
		}
		if err := answers.Encode(obey(servers, line)); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func obey(servers map[int]*server, line command) answer {
	switch line.Do {
	case "start":
		started, address := start(line.ADS)
		servers[line.Server] = started
		return answer{Address: address}
	case "set":
		if err := servers[line.Server].set(line.Node, line.Types); err != nil {
			return answer{Unsupported: err.Error()}
		}
	case "stop":
		servers[line.Server].stop()
		delete(servers, line.Server)
	default:
		fail(fmt.Errorf("unknown command %q", line.Do))
	}
	return answer{}
}

func start(ads bool) (*server, string) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	snapshots := cache.NewSnapshotCache(ads, cache.IDHash{}, nil)
	xdsServer := xds.NewServer(ctx, snapshots, nil, sotw.WithOrderedADS())
	grpcServer := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32))
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, xdsServer)
	cluster.RegisterClusterDiscoveryServiceServer(grpcServer, xdsServer)
	endpoint.RegisterEndpointDiscoveryServiceServer(grpcServer, xdsServer)
	listener.RegisterListenerDiscoveryServiceServer(grpcServer, xdsServer)
	route.RegisterRouteDiscoveryServiceServer(grpcServer, xdsServer)
	route.RegisterScopedRoutesDiscoveryServiceServer(grpcServer, xdsServer)
	route.RegisterVirtualHostDiscoveryServiceServer(grpcServer, xdsServer)
	secret.RegisterSecretDiscoveryServiceServer(grpcServer, xdsServer)
	runtime.RegisterRuntimeDiscoveryServiceServer(grpcServer, xdsServer)
	extension.RegisterExtensionConfigDiscoveryServiceServer(grpcServer, xdsServer)
	go func() { _ = grpcServer.Serve(socket) }()
	return &server{snapshots: snapshots, grpc: grpcServer, cancel: cancel}, socket.Addr().String()
}

func (s *server) set(node string, states []typeState) error {
	snapshot := &cache.Snapshot{}
	for _, state := range states {
		kind := cache.GetResponseType(state.URL)
		if kind == types.UnknownType {
			return fmt.Errorf("a snapshot cannot hold %s", state.URL)
		}
		items := make([]types.Resource, 0, len(state.Resources))
		for _, bytes := range state.Resources {
			item, err := decode(state.URL, bytes)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		snapshot.Resources[kind] = cache.NewResources(state.Version, items)
	}
	return s.snapshots.SetSnapshot(context.Background(), node, snapshot)
}

func (s *server) stop() {
	s.cancel()
	s.grpc.Stop()
}

func decode(url string, bytes []byte) (proto.Message, error) {
	messageType, err := protoregistry.GlobalTypes.FindMessageByURL(url)
	if err != nil {
		return nil, err
	}
	message := messageType.New().Interface()
	return message, proto.Unmarshal(bytes, message)
}
