package harbour

val orders = mapOf(
    "berth" to ::berth,
    "depart" to ::depart,
    "wait" to ::halt,
)
