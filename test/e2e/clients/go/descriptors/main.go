// Writes the descriptors of route tables and of everything they import to a file, as one FileDescriptorSet: what an operator has who
// compiled a newer Envoy's proto files with protoc.
package main

import (
	"log"
	"os"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

func main() {
	set := &descriptorpb.FileDescriptorSet{}
	add(set, map[string]bool{}, routev3.File_envoy_config_route_v3_route_proto)
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err == nil {
		err = os.WriteFile(os.Args[1], bytes, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// add puts what a file imports before it, each file once.
func add(set *descriptorpb.FileDescriptorSet, seen map[string]bool, file protoreflect.FileDescriptor) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	imports := file.Imports()
	for i := 0; i < imports.Len(); i++ {
		add(set, seen, imports.Get(i).FileDescriptor)
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
}
