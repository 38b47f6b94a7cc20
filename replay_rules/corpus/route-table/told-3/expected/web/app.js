const app = express();

app.get("/", home);
app.get("/about", about);
app.get("/item", list);
app.post("/item", create);

module.exports = app;
