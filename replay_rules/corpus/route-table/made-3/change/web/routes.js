import { app } from "./app.js";
import * as views from "./views.js";

app.get("/harbor", views.harbor);
app.get("/willow", views.willow);
app.get("/raven", views.raven);
app.get("/maple", views.maple);
app.get("/larch", views.larch);
app.get("/cypress", views.cypress);
