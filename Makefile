# Two commands matter: `make demo` shows the toolkit at work, `make test` checks everything.
# Both build .venv first, once. `make help` lists the rest.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.stamp
JOBS   ?= 2

# pip's warnings (an index that is not there, a cache that is not writable) stay in a log, which is
# shown when something fails.
comma  := ,
EXTRAS := .[run,vision,mcp,dev]
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
quietly = echo "make: $(1)"; $(PIP) $(2) > $(VENV)/pip.log 2>&1 || \
  { cat $(VENV)/pip.log; echo "make: pip failed; the lines above are in $(VENV)/pip.log"; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint format zoo zoo-ascend hunt verify bench structure runtime snapshot metamorphic fuzz limits \
  mutation coverage flagship flagship-ascend imports docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(STAMP) ## build .venv with both frameworks and the tools (once)

# Rebuilt only when the pinned versions or our own requirements change.
$(STAMP): constraints.txt setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "make: '$(PYTHON)' is not Python 3.11; try: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "make: installing torch, mindspore and the tools into $(VENV) (about three minutes, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(call quietly,1 of 2: setuptools and wheel,setuptools wheel)
	@$(call quietly,2 of 2: torch$(comma) mindspore and the tools,--no-build-isolation --editable '$(EXTRAS)')
	@touch $@
	@echo "make: $(VENV) is ready; call the tool as $(BIN)/ms-migrate"

demo: $(STAMP) ## analyse, port and check the bundled ResNet
	@echo "make: analysing, porting and checking reference_pt/resnet.py (about two minutes)"
	@$(BIN)/ms-migrate demo
	@echo "make: try it on your code: $(BIN)/ms-migrate analyze PATH"

# Tests go to the workers by file: what a file builds for its tests (a wheel, a step) is built once.
# The longest files come first (tests/conftest.py), not those with the most tests.
test: lint ## lint, types and every test
	@echo "make: running the tests on $(JOBS) processes (about 25 minutes on two cores)"
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

lint: $(STAMP) ## ruff and mypy --strict
	@echo "make: ruff check, ruff format --check, mypy --strict migrate"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict migrate

format: $(STAMP) ## let ruff fix and format the sources
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

zoo: $(STAMP) ## port torchvision's models and compare one step of each (long)
	@test -e tests/zoo/run.py || { echo "make: the porter is not in this version yet"; exit 2; }
	@$(BIN)/python tests/zoo/run.py

zoo-ascend: $(STAMP) ## preflight a step of each of torchvision's models, without a device (long)
	@$(BIN)/python tests/zoo/ascend.py

hunt: $(STAMP) ## run the idioms in torch, PyNative and Graph mode and compare (long)
	@$(BIN)/python -m tests.hunt --jobs $(JOBS) --write

# A run that was stopped goes on with: make flagship FLAGSHIP=--missing
flagship: $(STAMP) ## run five training programs in every setting beside torch, and write docs/results/flagship.md (long)
	@nice $(BIN)/python -m tests.training.flagship_matrix --write $(FLAGSHIP)

flagship-ascend: $(STAMP) ## preflight whole training programs, without a device, and write docs/results/flagship_ascend.md (long)
	@nice $(BIN)/python -m tests.training.flagship_preflight

imports: $(STAMP) ## import every ported corpus where there is no torch (long)
	@nice $(BIN)/python -m tests.port.without_torch

verify: $(STAMP) ## run the mapping rows against torch's operator databases (long)
	@test -e migrate/verify || { echo "make: verify is not in this version yet"; exit 2; }
	@$(BIN)/ms-migrate verify

bench: $(STAMP) ## measure speed and memory beside the bare parsers
	@$(BIN)/python -m tests.bench

runtime: $(STAMP) ## build the wheel of ms_migrate_runtime, for ports with --helpers package
	@$(BIN)/python -m migrate.emit.runtime_package dist

snapshot: $(STAMP) ## name the files of real packages whose port has changed
	@$(BIN)/python -m tests.snapshot

metamorphic: $(STAMP) ## port torchvision, files of torch and training loops in six spellings and compare (long)
	@$(BIN)/python -m tests.metamorphic

structure: $(STAMP) ## measure layers, complexity and passes, and write docs/results/structure.md
	@$(BIN)/python -m tests.structure.measure

FUZZ_INPUT ?= $(VENV)/fuzz
fuzz: $(STAMP) ## analyse and port 20,000 files of other people, and write docs/results/fuzz.md (long)
	@test -d $(FUZZ_INPUT)/packages || $(BIN)/python -m tests.fuzz.download $(FUZZ_INPUT)
	@test -d $(FUZZ_INPUT)/tool || $(BIN)/python -m pip install --quiet --no-deps \
	  --target $(FUZZ_INPUT)/tool hypothesmith==0.3.3 lark==1.3.1
	@nice $(BIN)/python -m tests.fuzz.generated --tool $(FUZZ_INPUT)/tool
	@nice $(BIN)/python -m tests.fuzz.run --input $(FUZZ_INPUT) --results $(FUZZ_INPUT)/results.jsonl

# A run that was stopped goes on; `rm -r .venv/coverage` begins anew.
coverage: $(STAMP) ## run the tests in parts under coverage, and write docs/results/coverage.md (long)
	@nice $(BIN)/python -m tests.coverage_run --store $(VENV)/coverage --slow

# A copy is changed, never the checkout; what mutmut needs stays out of the pinned environment.
MUTATION := $(VENV)/mutation
mutation: $(STAMP) ## change five modules place by place: which changes does no test notice? (long)
	@test -d $(MUTATION)/tool || $(BIN)/python -m pip install --quiet --no-deps \
	  --target $(MUTATION)/tool mutmut==3.8.1 click setproctitle textual toml
	@mkdir -p $(MUTATION)/copy
	@cp -r migrate mappings reference_pt ported_ms tests setup.cfg pyproject.toml constraints.txt \
	  $(MUTATION)/copy
	@cd $(MUTATION)/copy && nice env PYTHONPATH=../tool OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(abspath $(BIN))/python -m mutmut run
	@$(BIN)/python -m tests.mutation $(MUTATION)/copy/mutants

docs: $(STAMP) ## write the outputs and numbers that the READMEs show, and the pages of the commands, anew
	@$(BIN)/python -m tests.test_readme
	@$(BIN)/python -m tests.docs.pages
	@$(BIN)/python -m tests.test_explain

limits: $(STAMP) ## run the reproducers of the limits of Graph mode, and write their page
	@$(BIN)/python -m tests.limits.reproduce

clean: ## remove .venv and everything built
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .coverage .coverage.* htmlcov kernel_meta rank_*
	@find migrate reference_pt ported_ms tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
