ORDERS = {
  berth: Berth,
  depart: Depart,
  tow: Tug,
}
