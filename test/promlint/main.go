// Command promlint reads metrics from standard input and prints what `promtool check metrics` prints of them: it calls
// the same linter.
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func main() {
	problems, err := promlint.New(os.Stdin).Lint()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error while linting:", err)
		os.Exit(1)
	}
	for _, problem := range problems {
		fmt.Println(problem.Metric, problem.Text)
	}
	if len(problems) > 0 {
		os.Exit(3)
	}
}
