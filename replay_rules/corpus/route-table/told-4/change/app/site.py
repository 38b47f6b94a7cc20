from flask import Flask

app = Flask(__name__)


@app.route("/")
def home():
    return "home"


@app.route("/help")
def help_page():
    return "help"
