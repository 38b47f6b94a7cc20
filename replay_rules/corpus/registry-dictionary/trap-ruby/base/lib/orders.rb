ORDERS = {
  berth: Berth,
  depart: Depart,
}
