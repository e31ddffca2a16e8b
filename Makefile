# Needs only Python >= 3.11, pip and make. Everything is installed into .venv on first use,
# and again when pyproject.toml changes.
PYTHON ?= python3
RUN := .venv/bin/python
# Where the environment forbids it, every process of every run would compile all tests and all of seldio again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test test-slow test-lowest test-newest test-browser test-frameworks test-docker lint demo docs schemas index frozen bench clean
.DELETE_ON_ERROR:

# A file of tests is run by one process, which makes what they share once.
test: .venv/test.stamp
	$(RUN) -m pytest -n 2 --dist loadfile -m "not slow"

# Kills, soaks, clusters, workers and videos, and all examples of the property tests.
test-slow: .venv/test.stamp
	HYPOTHESIS_PROFILE=thorough $(RUN) -m pytest -n 2 -m "slow or hypothesis"

# The tests with the lowest version of each library that pyproject.toml admits, so that its floors are true. Old libraries
# may warn. With PYTHON=python3.11 they are the lowest of all: newer versions of Python need newer ones.
test-lowest: .venv-lowest/stamp
	.venv-lowest/bin/python -m pytest -n 2 --dist loadfile -m "not slow" -W default

# What newer versions change least, texts and rules of our own, is left out with them: a third of the time.
OURS := layers docs bounded_work deep replies russian spoken answer_forms fixes order compare

# The tests with the newest version of each library on a newer Python, so that what they change is known early.
test-newest: .venv-newest/stamp
	.venv-newest/bin/python -m pytest -n 2 --dist loadfile -m "not slow" -W default $(OURS:%=--ignore=tests/test_%.py)

# The page of `seldio view` in a headless Chromium; says so and skips where there is none.
test-browser: .venv/browser.stamp
	$(RUN) -m pytest tests/browser

# Windows and streams in torch, Grain, tf.data, datasets and Ray; the libraries have an environment of their own.
test-frameworks: .venv-frameworks/stamp
	.venv-frameworks/bin/python -m pytest tests/frameworks tests/test_hub.py::test_datasets_loads_what_was_pushed \
	  tests/test_pages.py -k 'not test_pages or train or load'
	@.venv-frameworks/bin/python tests/frameworks/not_installed.py

# The image is built, and checks labels from standard input and from a folder, as another user than root.
test-docker:
	docker build --quiet --tag seldio-test .
	docker run --rm seldio-test --version
	test "$$(docker run --rm --entrypoint id seldio-test -u)" != 0
	printf '0,1,0,-50,30,200\n' | docker run --rm --interactive seldio-test validate --format starss23 -
	docker run --rm --volume "$(CURDIR)/tests/cases:/data:ro" seldio-test validate --output concise . >/dev/null; \
	  test $$? -eq 1

lint: .venv/test.stamp
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

demo: .venv/demo.stamp
	$(RUN) -m seldio demo

docs: .venv/docs.stamp
	$(RUN) docs/generate.py
	$(RUN) -m sphinx -W --keep-going docs docs/_build/html  # conf.py writes docs/reference first

schemas: .venv/demo.stamp
	$(RUN) docs/generate.py --schemas

# What seldio says of all examples (and of real data, where SELDIO_SHARED names some), against what it said before.
frozen: .venv/test.stamp
	$(RUN) -W ignore tests/frozen.py

# What lists formats without loading them; after one was added, renamed or moved.
index: .venv/demo.stamp
	$(RUN) docs/generate.py --index

# OFFICIAL=FOLDER, with checkouts of official programs under their names on GitHub, lets those that are there take their turns.
MAPS = $(OFFICIAL)/DCASE2026_Task3_SAISELD_baseline/evaluate.py
bench: .venv/bench.stamp .venv-frameworks/peers.stamp
	$(RUN) benchmarks/run.py
	.venv-frameworks/bin/python benchmarks/loading.py
	$(RUN) benchmarks/items.py 106344
	$(RUN) benchmarks/start.py
	$(RUN) benchmarks/diff.py
	$(if $(wildcard $(OFFICIAL)/seld-dcase2023),$(RUN) benchmarks/official.py 2023 $(OFFICIAL)/seld-dcase2023)
	$(if $(wildcard $(MAPS)),OPENBLAS_NUM_THREADS=1 $(RUN) benchmarks/imaging.py $(MAPS))

clean:
	rm -rf .venv .venv-frameworks .venv-lowest .venv-newest build dist docs/_build docs/reference .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# What each stamp installs.
.venv/test.stamp: WANTED := . --group test --group lint
.venv/browser.stamp: WANTED := . --group browser
.venv/demo.stamp: WANTED := .
.venv/docs.stamp: WANTED := . --group docs
.venv/bench.stamp: WANTED := . --group bench

.venv/%.stamp: pyproject.toml | .venv/bin/python
	@echo "Installing into .venv: this takes a minute, once."
	$(RUN) -m pip install --quiet "pip>=25.1"
	$(RUN) -m pip install --quiet --editable $(WANTED)
	@touch $@

# torch first and alone: the CPU build, from where pip looks anyway or from its own index. Without it, all but torch.
TORCH := $(shell sed -n 's/^ *"\(torch==[^;"]*\).*/\1/p' pyproject.toml)
.venv-frameworks/stamp: pyproject.toml | .venv-frameworks/bin/python
	@echo "Installing into .venv-frameworks: this takes some minutes, once."
	.venv-frameworks/bin/python -m pip install --quiet "pip>=25.1"
	GROUP=frameworks; test "$$(uname)" != Linux || \
	  .venv-frameworks/bin/python -m pip install --quiet --no-deps "$(TORCH)" || \
	  .venv-frameworks/bin/python -m pip install --quiet --retries 1 --no-deps \
	    --index-url https://download.pytorch.org/whl/cpu "$(TORCH)" || GROUP=frameworks-without-torch; \
	.venv-frameworks/bin/python -m pip install --quiet --editable . --group "$$GROUP"
	@touch $@

# pip has no way to ask for lowest versions, uv has.
.venv-lowest/stamp: pyproject.toml | .venv-lowest/bin/python
	@echo "Installing into .venv-lowest: this takes a minute, once."
	.venv-lowest/bin/python -m pip install --quiet "uv>=0.9"
	.venv-lowest/bin/python -m uv pip install --quiet --python .venv-lowest/bin/python \
	  --resolution lowest-direct --editable . --group test
	@touch $@

.venv-newest/stamp: pyproject.toml | .venv-newest/bin/python
	@echo "Installing into .venv-newest: this takes a minute, once."
	.venv-newest/bin/python -m pip install --quiet "uv>=0.9"
	.venv-newest/bin/python -m uv pip install --quiet --python .venv-newest/bin/python \
	  --upgrade --editable . --group test
	@touch $@

# A Python that is here, or one that uv fetches.
.venv-newest/bin/python:
	for python in python3.14 python3.13 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.1[34].*/bin/python; do \
	  "$$python" -m venv .venv-newest 2>/dev/null && exit 0; \
	done; \
	uv venv --quiet --clear --seed --python ">=3.13" .venv-newest || \
	  { echo "make test-newest: there is no Python 3.13 or newer here, and uv could not fetch one." >&2; exit 1; }

# Whom the benchmarks compare with; where one cannot be installed, its row says so.
.venv-frameworks/peers.stamp: .venv-frameworks/stamp
	-.venv-frameworks/bin/python -m pip install --quiet --editable . --group peers
	@touch $@

# Some systems ship Python without ensurepip; then their own pip fills the environment.
.venv/bin/python .venv-frameworks/bin/python .venv-lowest/bin/python: %/bin/python:
	$(PYTHON) -m venv $* || \
	  { $(PYTHON) -m venv --clear --without-pip $* && $(PYTHON) -m pip --python $* install pip; }
