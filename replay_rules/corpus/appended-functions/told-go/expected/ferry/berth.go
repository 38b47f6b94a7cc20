package ferry

import (
	"errors"
	"fmt"

	"harbour/tide"
)

func Berth(n int) error {
	if n < 0 {
		return errors.New(fmt.Sprint(n, tide.Now()))
	}
	return nil
}

// Depart frees a berth.
func Depart(n int) bool {
	return n > 0
}

// Waiting counts what is not moored.
func (f *Fleet) Waiting() int {
	return len(f.ships)
}
