const app = express();

app.get("/", home);
app.get("/about", about);
app.get("/item", list);

module.exports = app;
