router.get("/users", users);
router.get("/teams", teams);
router.get("/roles", roles);
