const app = express();

app.get("/", home);
app.get("/about", about);
app.post("/item", create);

module.exports = app;
