router.get("/users", users);
router.get("/teams", teams);
router.delete("/teams/:id", drop);
router.get("/roles", roles);
