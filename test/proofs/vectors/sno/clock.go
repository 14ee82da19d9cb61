// Becomes a file of the reference's package: its build with the tag "test" has no clock, so this one is taken.

//go:build test

package sno

import (
	"os"
	"strconv"
)

// Clock returns units of 4 ms since 2010.
var Clock = func() uint64 {
	units, _ := strconv.ParseUint(os.Getenv("SNO_UNITS"), 10, 64)
	return units
}

func snotime() uint64 { return Clock() }

// Counter is the sequence as it is, also when the next call would reset it.
func (g *Generator) Counter() uint32 { return g.seq }
