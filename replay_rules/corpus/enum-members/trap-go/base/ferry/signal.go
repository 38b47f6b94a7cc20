package ferry

type Signal int

const (
	Ahead Signal = iota
	Astern
)
