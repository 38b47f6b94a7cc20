const app = express();

app.get("/", home);
app.get("/about", about);
app.get("/secret", secret);

module.exports = app;
