const app = express();

app.get("/", home);
app.get("/about", about);

module.exports = app;
