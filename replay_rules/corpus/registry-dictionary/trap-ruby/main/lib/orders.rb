ORDERS = {
  berth: Berth,
  depart: Depart,
  tow: Tow,
}
