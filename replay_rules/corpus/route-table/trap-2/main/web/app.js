const app = express();

app.get("/", home);
app.get("/about", about);
app.use(auth);

module.exports = app;
