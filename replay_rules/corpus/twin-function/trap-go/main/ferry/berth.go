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

func half(n int) int {
	return n / 2
}
