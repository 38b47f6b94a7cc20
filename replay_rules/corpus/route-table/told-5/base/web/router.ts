router.get("/users", users);
router.get("/teams", teams);
