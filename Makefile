# The commands a person types; `make help` lists them. Each one sets up what it needs first, and that costs nothing when it is there.

PRESET ?= release
DRAFTER ?= ngram
PROMPT ?= Correct the spelling and return the whole text: The tide came in slowly over the flat sand. The boats rose one after anothr. The men on the pier watched the watr and said nothing. When the tide turned, the boats sank back onto the sand.
PREFIX ?= /usr/local
MODEL := smollm2-135m-instruct
BUILD := build/$(PRESET)

# A prompt may hold any character. The shell gets it by the environment, and $(value) keeps make from expanding a dollar sign in it.
override PROMPT := $(value PROMPT)
override DRAFTER := $(value DRAFTER)
export PROMPT DRAFTER

.DEFAULT_GOAL := help
.PHONY: help run test test-long program build setup model format install clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo "PRESET=release|debug|asan|tsan chooses the build (now $(PRESET)); PROMPT='…' and DRAFTER=none|ngram are for run."

run: program model ## answer PROMPT with and without a drafter, side by side
	@$(BUILD)/bin/outrider generate --model $(MODEL) --drafter "$$DRAFTER" --compare-plain --prompt "$$PROMPT"

test: build model ## run every test
	ctest --test-dir $(BUILD) --output-on-failure -j2 --label-exclude '^long$$'

test-long: build model ## run every test at full size (soaks, statistics, random searches), and 60 s of fuzzing
	OUTRIDER_LONG=1 ctest --test-dir $(BUILD) --output-on-failure
	$(BUILD)/bin/gguf_fuzz --seconds 60 tests/fuzz/corpus/gguf

program: setup ## build the program and the plugins into build/PRESET
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET) --target program

build: program ## build the tests and the benches as well
	@cmake --build --preset $(PRESET)

setup: ## install the Debian packages this needs
	@scripts/setup

model: setup ## fetch the default model into the cache folder
	@scripts/fetch-model $(MODEL)

format: ## format all C and C++ sources as .clang-format says (needs clang-format)
	@find kernels host plugin_api plugins sdk tests -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' | xargs clang-format -i

install: program ## install into PREFIX (now /usr/local); run it as root where PREFIX needs that
	cmake --install $(BUILD) --prefix "$(PREFIX)"

clean: ## delete all builds; models and packages stay
	rm -rf build
