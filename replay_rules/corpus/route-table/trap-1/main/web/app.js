const app = express();

app.get("/", home);
app.get("/about", about);
app.get("/:page", page);

module.exports = app;
