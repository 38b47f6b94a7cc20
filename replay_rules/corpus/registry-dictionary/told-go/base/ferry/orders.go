package ferry

var orders = map[string]func(int) error{
	"berth":  Berth,
	"depart": Depart,
}
