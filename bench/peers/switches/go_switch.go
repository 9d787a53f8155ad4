// SPDX-License-Identifier: Apache-2.0

// Two goroutines of one processor yield to each other: go_switch SWITCHES.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func yieldOften(times int) {
	for i := 0; i < times; i++ {
		runtime.Gosched()
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go_switch SWITCHES")
		os.Exit(2)
	}
	switches, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	done := make(chan bool)
	go func() {
		yieldOften(switches / 2)
		done <- true
	}()
	from := time.Now()
	yieldOften(switches / 2)
	<-done
	seconds := time.Since(from).Seconds()
	version := strings.Replace(runtime.Version(), "go", "go ", 1)
	fmt.Printf("{\"peer\": \"%s\", \"switches\": %d, \"seconds\": %.6f}\n",
		version, switches, seconds)
}
