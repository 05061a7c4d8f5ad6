// Command gcp serves the benchmark's clusters with go-control-plane. A line "change" on stdin changes one of them; the time at
// which the change was handed over is printed as a line of JSON.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

var (
	count = flag.Int("resources", 100, "clusters")
	kind  = flag.String("cache", "linear", "linear or snapshot")
	pad   = flag.Int("pad", 150, "bytes of padding in each cluster")
)

func makeCluster(i, change int) *cluster.Cluster {
	padding := make([]byte, *pad)
	for j := range padding {
		padding[j] = byte('a' + (i+j)%26)
	}
	return &cluster.Cluster{
		Name:                 fmt.Sprintf("cluster-%06d", i),
		AltStatName:          string(padding),
		ConnectTimeout:       durationpb.New(time.Duration(change+1) * time.Millisecond),
		ClusterDiscoveryType: &cluster.Cluster_Type{Type: cluster.Cluster_EDS},
		EdsClusterConfig: &cluster.Cluster_EdsClusterConfig{EdsConfig: &core.ConfigSource{
			ResourceApiVersion:    core.ApiVersion_V3,
			ConfigSourceSpecifier: &core.ConfigSource_Ads{Ads: &core.AggregatedConfigSource{}},
		}},
	}
}

func main() {
	flag.Parse()
	all := make([]types.Resource, *count)
	byName := make(map[string]types.Resource, *count)
	for i := range all {
		one := makeCluster(i, 0)
		all[i], byName[one.Name] = one, one
	}
	change := serveWith(all, byName)
	fmt.Println(`{"event":"ready"}`)
	lines := bufio.NewScanner(os.Stdin)
	for n := 1; lines.Scan(); n++ {
		began := time.Now().UnixNano()
		change(n)
		fmt.Printf("{\"event\":\"changed\",\"at\":\"%d\"}\n", began)
	}
}

func serveWith(all []types.Resource, byName map[string]types.Resource) func(n int) {
	ctx := context.Background()
	var served cache.Cache
	var change func(n int)
	if *kind == "linear" {
		linear := cache.NewLinearCache(resource.ClusterType, cache.WithInitialResources(byName))
		served = linear
		change = func(n int) {
			one := makeCluster(1, n)
			check(linear.UpdateResource(one.Name, one))
		}
	} else {
		snapshots := cache.NewSnapshotCache(false, cache.IDHash{}, nil)
		set := func(n int) {
			snapshot, err := cache.NewSnapshot(fmt.Sprint(n), map[resource.Type][]types.Resource{resource.ClusterType: all})
			check(err)
			check(snapshots.SetSnapshot(ctx, "bench", snapshot))
		}
		set(0)
		served = snapshots
		change = func(n int) {
			all[1] = makeCluster(1, n)
			set(n)
		}
	}
	xds := server.NewServer(ctx, served, nil)
	grpcServer := grpc.NewServer(grpc.MaxConcurrentStreams(1000000), grpc.MaxRecvMsgSize(64<<20))
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, xds)
	clusterservice.RegisterClusterDiscoveryServiceServer(grpcServer, xds)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("{\"event\":\"listening\",\"address\":\"%s\"}\n", listener.Addr())
	go func() { check(grpcServer.Serve(listener)) }()
	return change
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
