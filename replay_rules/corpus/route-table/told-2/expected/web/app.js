const app = express();

app.get("/", home);
app.get("/about", about);
app.post("/login", login);
app.get("/help", help);

module.exports = app;
