import { app } from "./app.js";
import * as views from "./views.js";

app.get("/harbor", views.harbor);
app.get("/willow", views.willow);
app.get("/raven", views.raven);
app.get("/maple", views.maple);
app.get("/cobalt", views.cobalt);
app.get("/canyon", views.canyon);
