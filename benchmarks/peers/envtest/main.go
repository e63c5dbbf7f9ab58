// Command envtest starts controller-runtime's control plane once, stops it, and prints how many
// seconds each took as one JSON object. The binaries are those of the folder that is its argument,
// so that only the way of starting them is compared.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// took is what one start and stop took.
type took struct {
	ReadySeconds float64 `json:"ready_s"`
	StopSeconds  float64 `json:"stop_s"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: envtest FOLDER-OF-BINARIES")
		os.Exit(2)
	}
	seconds, err := once(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(seconds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func once(binaries string) (took, error) {
	environment := &envtest.Environment{BinaryAssetsDirectory: binaries}
	began := time.Now()
	if _, err := environment.Start(); err != nil {
		return took{}, fmt.Errorf("start: %w", err)
	}
	ready := time.Since(began)
	began = time.Now()
	if err := environment.Stop(); err != nil {
		return took{}, fmt.Errorf("stop: %w", err)
	}
	return took{ReadySeconds: ready.Seconds(), StopSeconds: time.Since(began).Seconds()}, nil
}
