import { app } from "./app.js";
import * as views from "./views.js";

app.get("/drift", views.drift);
app.get("/copper", views.copper);
app.get("/sorrel", views.sorrel);
