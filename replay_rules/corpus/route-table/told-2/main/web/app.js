const app = express();

app.get("/", home);
app.get("/about", about);
app.post("/login", login);

module.exports = app;
