package ferry

import (
	"errors"
	"fmt"
	"strings"

	"harbour/tide"
)

func Berth(n int) error {
	if n < 0 {
		return errors.New(fmt.Sprint(n, tide.Now()))
	}
	return nil
}
