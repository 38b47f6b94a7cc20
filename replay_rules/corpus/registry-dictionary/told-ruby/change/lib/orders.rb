ORDERS = {
  "berth" => Berth,
  "depart" => Depart,
  "wait" => Wait,
}
