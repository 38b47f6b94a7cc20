PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
CODE := qodebase lanes fleet replay_rules results tests

# Many tests start qodebase anew, and compiling its modules each time would take longer than they do. Of what is installed
# most is never imported: a module is compiled when it first is.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test full lock clean

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "qodebase needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(READY)

demo: setup
	$(VENV)/bin/qodebase demo

test: setup
	$(VENV)/bin/ruff check $(CODE)
	$(VENV)/bin/ruff format --check $(CODE)
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -q -n auto --maxprocesses 4 --dist worksteal -m 'not full'

full: setup
	$(VENV)/bin/pytest -q

lock:
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/pip install --quiet pip-tools
	$(VENV)/lock/bin/pip-compile --quiet --extra dev --generate-hashes --strip-extras --no-emit-index-url \
		--no-emit-find-links --no-emit-trusted-host --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
