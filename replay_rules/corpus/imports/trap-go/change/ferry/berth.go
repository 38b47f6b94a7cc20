package ferry

import (
	"errors"
	"fmt"

	"harbour/tide"
	"quay/log"
)

func Berth(n int) error {
	if n < 0 {
		return errors.New(fmt.Sprint(n, tide.Now()))
	}
	return nil
}
