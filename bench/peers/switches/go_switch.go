// SPDX-License-Identifier: Apache-2.0

// Two goroutines of one processor yield to each other: go_switch BATCHES. Prints the median batch.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

const batch = 256

var over bool

func yieldOn() {
	for !over {
		runtime.Gosched()
	}
}

func main() {
	batches := 0
	if len(os.Args) == 2 {
		batches, _ = strconv.Atoi(os.Args[1])
	}
	if batches < 1 {
		fmt.Fprintln(os.Stderr, "usage: go_switch BATCHES")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	go yieldOn()
	took := make([]float64, batches)
	for i := range took {
		from := time.Now()
		for j := 0; j < batch; j++ {
			runtime.Gosched()
		}
		// Each yield is two switches: there and back.
		took[i] = float64(time.Since(from).Nanoseconds()) / batch / 2
	}
	over = true
	sort.Float64s(took)
	version := strings.Replace(runtime.Version(), "go", "go ", 1)
	fmt.Printf("{\"peer\": \"%s\", \"switch_ns\": %.2f}\n", version, took[batches/2])
}
