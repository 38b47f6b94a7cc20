const app = express();

app.get("/", home);
app.get("/about", about);
app.get("/help", help);

module.exports = app;
