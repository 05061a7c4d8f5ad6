// Reads a history of the ledger, one operation in JSON per line, and tells whether it is linearizable: whether each operation
// can be given a moment between its call and its return at which it took place, so that all of them in that order are what a
// ledger with one copy would have done.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// A line of the input. Times are in microseconds of one clock.
type line struct {
	Process int    `json:"process"`
	Kind    string `json:"kind"` // "append" or "read"
	Called  int64  `json:"called"`
	// Absent: the process never learned what became of it.
	Returned *int64 `json:"returned"`
	// The number of the head that an append made or a read was told.
	Number int `json:"number"`
	// What an append put in. An append of which the final ledger has nothing and whose outcome is unknown is left out.
	Content string `json:"content"`
}

type head struct {
	number  int
	content string
}

type output struct{ number int }

// Every append replaces the whole state, under a higher number; a read is told the number of the newest one.
var ledger = porcupine.Model{
	Init: func() interface{} { return head{} },
	Step: func(state, input, result interface{}) (bool, interface{}) {
		at, operation, told := state.(head), input.(line), result.(output)
		if operation.Kind == "read" {
			return told.number == at.number, at
		}
		return told.number > at.number, head{told.number, operation.Content}
	},
	DescribeOperation: func(input, result interface{}) string {
		operation := input.(line)
		return fmt.Sprintf("%s %s: %d", operation.Kind, operation.Content, result.(output).number)
	},
}

const patience = 60 * time.Second

func main() {
	var history []porcupine.Operation
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var read line
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		returned := int64(math.MaxInt64)
		if read.Returned != nil {
			returned = *read.Returned
		}
		history = append(history, porcupine.Operation{
			ClientId: read.Process,
			Input:    read,
			Call:     read.Called,
			Output:   output{read.Number},
			Return:   returned,
		})
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	result := porcupine.CheckOperationsTimeout(ledger, history, patience)
	answer := map[string]interface{}{"operations": len(history), "result": string(result)}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		os.Exit(2)
	}
}
