import { app } from "./app.js";
import * as views from "./views.js";

app.get("/pine", views.pine);
app.get("/fern", views.fern);
app.get("/flint", views.flint);
app.get("/summit", views.summit);
app.get("/larch", views.larch);
