package main

import (
	"encoding/binary"
	"fmt"
)

// heldResource is what the first stream was told, for streams that come back; in State of the World a version of all without a name.
type heldResource struct{ name, version []byte }

// held is what the first stream was told last of each resource, in however many responses.
var held []heldResource

var heldAt = map[string]int{}

func hold(one heldResource) {
	if at, isHeld := heldAt[string(one.name)]; isHeld {
		held[at] = one
		return
	}
	heldAt[string(one.name)] = len(held)
	held = append(held, one)
}

func field(out []byte, number int, value []byte) []byte {
	out = binary.AppendUvarint(out, uint64(number)<<3|2)
	out = binary.AppendUvarint(out, uint64(len(value)))
	return append(out, value...)
}

func firstRequest(index int, initial []heldResource) []byte {
	id := *nodeID
	if *ownNodes {
		id = fmt.Sprintf("%s-%d", id, index)
	}
	node := field(nil, 1, []byte(id))
	if *variant == "sotw" {
		request := field(field(nil, 2, node), 4, []byte(*typeURL))
		if len(initial) > 0 {
			request = field(request, 1, initial[0].version)
		}
		return request
	}
	out := field(field(nil, 1, node), 2, []byte(*typeURL))
	for _, name := range askedBy(index) {
		out = field(out, 3, name)
	}
	for _, one := range initial {
		out = field(out, 5, field(field(nil, 1, one.name), 2, one.version))
	}
	return out
}

// changing is the number of the Cluster that a server changes.
const changing = 1

// askedBy is what a stream asks for by name: with or without the Cluster that changes, and never the first of them.
func askedBy(index int) [][]byte {
	out := make([][]byte, 0, *names)
	if *names > 0 && index < listeners() {
		out = append(out, clusterName(changing))
	}
	for i := 0; len(out) < *names; i++ {
		out = append(out, clusterName(changing+1+(index**names+i)%(*resources-changing-1)))
	}
	return out
}

// moreRequest asks for one name more, that of the first Cluster.
func moreRequest() []byte {
	return field(field(nil, 2, []byte(*typeURL)), 3, clusterName(0))
}

func clusterName(i int) []byte { return fmt.Appendf(nil, "cluster-%06d", i) }

func ack(version, nonce, typeURL []byte) []byte {
	if *variant == "sotw" {
		return field(field(field(nil, 1, version), 4, typeURL), 5, nonce)
	}
	return field(field(nil, 2, typeURL), 6, nonce)
}

const (
	endpointType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	routeType    = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
)

// routeRequest asks for what uses Clusters, as a proxy would.
func routeRequest() []byte {
	return field(field(nil, 2, []byte(routeType)), 3, []byte("routes"))
}

// endpointRequest asks for the endpoints of so many Clusters.
func endpointRequest(count int) []byte {
	out := field(nil, 2, []byte(endpointType))
	for i := range count {
		out = field(out, 3, clusterName(i))
	}
	return out
}

// responseReader walks the fields of responses as their bytes arrive; only version, nonce and type are kept.
type responseReader struct {
	// left of the message, and of the field that is being skipped or kept
	inMessage bool
	left      int
	fieldLeft int
	number    int
	head      []byte
	version   []byte
	nonce     []byte
	typeURL   []byte
	resource  []byte
	capture   bool
	// Resources of the response.
	resources int
}

func (r *responseReader) feed(data []byte, received func(version, nonce, typeURL []byte)) {
	for {
		if !r.inMessage {
			if !r.collect(&data, 5) {
				return
			}
			r.left = int(binary.BigEndian.Uint32(r.head[1:5]))
			r.head, r.version, r.nonce, r.inMessage = r.head[:0], r.version[:0], r.nonce[:0], true
			r.typeURL, r.resources = r.typeURL[:0], 0
		}
		for r.left > 0 {
			if r.fieldLeft == 0 && !r.startField(&data) {
				return
			}
			n := min(r.fieldLeft, len(data))
			r.keep(data[:n])
			data, r.fieldLeft, r.left = data[n:], r.fieldLeft-n, r.left-n
			if r.fieldLeft == 0 {
				r.endField()
			} else if len(data) == 0 {
				return
			}
		}
		r.inMessage = false
		received(r.version, r.nonce, r.typeURL)
		if len(data) == 0 {
			return
		}
	}
}

// collect fills head up to n bytes.
func (r *responseReader) collect(data *[]byte, n int) bool {
	take := min(n-len(r.head), len(*data))
	r.head = append(r.head, (*data)[:take]...)
	*data = (*data)[take:]
	return len(r.head) == n
}

// startField reads a tag and a length; every field of a response that matters is length-delimited.
func (r *responseReader) startField(data *[]byte) bool {
	for {
		if len(*data) == 0 {
			return false
		}
		r.head = append(r.head, (*data)[0])
		*data = (*data)[1:]
		r.left--
		tag, tagSize := binary.Uvarint(r.head)
		if tagSize <= 0 {
			continue
		}
		if tag&7 == 0 { // a varint field, such as canary: skip it
			if _, size := binary.Uvarint(r.head[tagSize:]); size > 0 {
				r.head = r.head[:0]
				if r.left == 0 {
					return true
				}
			}
			continue
		}
		length, size := binary.Uvarint(r.head[tagSize:])
		if size <= 0 {
			continue
		}
		r.number, r.fieldLeft, r.head = int(tag>>3), int(length), r.head[:0]
		return true
	}
}

func (r *responseReader) keep(part []byte) {
	switch {
	case r.number == 1:
		r.version = append(r.version, part...)
	case r.number == 5:
		r.nonce = append(r.nonce, part...)
	case r.number == 4:
		r.typeURL = append(r.typeURL, part...)
	case r.number == 2 && r.capture && *variant == "delta":
		r.resource = append(r.resource, part...)
	}
}

func (r *responseReader) endField() {
	if r.number == 1 && r.capture && *variant == "sotw" {
		hold(heldResource{version: append([]byte(nil), r.version...)})
	}
	if r.number != 2 {
		return
	}
	r.resources++
	if len(r.resource) > 0 {
		hold(parseHeld(r.resource))
		r.resource = r.resource[:0]
	}
}

// parseHeld reads name (3) and version (1) of a delta Resource.
func parseHeld(message []byte) heldResource {
	var out heldResource
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		message = message[n:]
		length, n := binary.Uvarint(message)
		value := message[n : n+int(length)]
		message = message[n+int(length):]
		switch tag >> 3 {
		case 1:
			out.version = append([]byte(nil), value...)
		case 3:
			out.name = append([]byte(nil), value...)
		}
	}
	return out
}
