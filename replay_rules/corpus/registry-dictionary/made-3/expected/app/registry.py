from app import makers

MAKERS = {
    "onyx": makers.make_onyx,
    "willow": makers.make_willow,
    "garnet": makers.make_garnet,
    "sierra": makers.make_sierra,
    "cedar": makers.make_cedar,
    "lagoon": makers.make_lagoon,
    "amber": makers.make_amber,
    "topaz": makers.make_topaz,
    "juniper": makers.make_juniper,
}
