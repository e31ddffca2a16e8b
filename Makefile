# Needs only Python >= 3.11, pip and make. Everything is installed into .venv on first use,
# and again when pyproject.toml changes.
PYTHON ?= python3
RUN := .venv/bin/python

.PHONY: test lint demo docs schemas bench clean
.DELETE_ON_ERROR:

test: lint
	$(RUN) -m pytest -n 2

lint: .venv/test.stamp
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

demo: .venv/demo.stamp
	$(RUN) -m seldio demo

docs: .venv/docs.stamp
	$(RUN) docs/generate.py
	$(RUN) -m sphinx -W --keep-going docs docs/_build/html

schemas: .venv/demo.stamp
	$(RUN) docs/generate.py --schemas

bench: .venv/bench.stamp
	$(RUN) benchmarks/run.py

clean:
	rm -rf .venv build dist docs/_build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# What each stamp installs.
.venv/test.stamp: WANTED := . --group test --group lint
.venv/demo.stamp: WANTED := .
.venv/docs.stamp: WANTED := . --group docs
.venv/bench.stamp: WANTED := . --group bench

.venv/%.stamp: pyproject.toml | .venv/bin/python
	@echo "Installing into .venv: this takes a minute, once."
	$(RUN) -m pip install --quiet "pip>=25.1"
	$(RUN) -m pip install --quiet --editable $(WANTED)
	@touch $@

# Some systems ship Python without ensurepip; then their own pip fills the environment.
.venv/bin/python:
	$(PYTHON) -m venv .venv || \
	  { $(PYTHON) -m venv --clear --without-pip .venv && $(PYTHON) -m pip --python .venv install pip; }
