package ferry

var stages = []string{
	"berth",
	"depart",
	"wait",
}
