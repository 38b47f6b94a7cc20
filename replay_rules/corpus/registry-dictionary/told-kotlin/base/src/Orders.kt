package harbour

val orders = mapOf(
    "berth" to ::berth,
    "depart" to ::depart,
)
