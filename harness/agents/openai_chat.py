"""An agent that is a model behind an OpenAI-compatible API; the door to the openai SDK.

It owns the key, the requests and the reading of the SDK's errors. The key goes into no environment,
transcript, message or argv. It refuses to know what the model is asked to do. `bench` builds an
`OpenAIAgent` and calls `act`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness.agents.agent import TRANSCRIPT_FILE, Assignment, save_prompt, save_usage
from harness.agents.chat_reply import Reply, parse_reply
from harness.agents.conversation import Conversation
from harness.agents.foreign_text import excerpt, masked
from harness.agents.sandbox import ISOLATION
from harness.agents.tools import TOOLS, run_kubectl
from harness.agents.usage import Prices, total
from harness.core.files import append_line
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import AgentError, ConfigError, PrerequisiteError
from harness.model.agent import AgentDescription, AgentOutcome

if TYPE_CHECKING:
    import openai

#: Where the key comes from, and where the SDK looks for another server.
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_BASE_URL = "https://api.openai.com/v1"

#: Seconds for one try of one request; a long answer of a slow model takes under 90 s.
REQUEST_TIMEOUT_S = 120.0

#: Tries after the first, for 408, 409, 429, 5xx and lost connections, with the SDK's own back-off
#: of 0.5 to 8 s or what Retry-After asks for. All of them share the time that is left.
MAX_RETRIES = 4


class OpenAIAgent:
    """A model that is given kubectl and asked to work: `--agent openai`."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        temperature: float | None = None,
        prices: Prices | None = None,
        environment: Mapping[str, str] = os.environ,
        request_timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> None:
        """Check what can be checked before anything exists; the SDK is loaded here.

        Args:
            model: The provider's name of the model.
            base_url: Another server that speaks chat completions; None asks the environment.
            temperature: Sampling temperature; None leaves it to the provider.
            prices: What a million tokens cost; None leaves the cost unknown.
            environment: Where the key is.
            request_timeout_s: Bound of one try, in seconds.

        Raises:
            ConfigError: The URL or the key cannot be used.
            PrerequisiteError: There is no key.
        """
        key = environment.get(KEY_VARIABLE, "").strip()
        if not key:
            msg = f"{KEY_VARIABLE} is not set"
            raise PrerequisiteError(
                msg, hint=f"export {KEY_VARIABLE}; any text does where a server asks for none"
            )
        if not (key.isascii() and key.isprintable()):
            msg = f"{KEY_VARIABLE} holds characters that no HTTP header can carry"
            raise ConfigError(msg, hint=f"export {KEY_VARIABLE} again, without quotes or breaks")
        self._base_url = base_url or environment.get(URL_VARIABLE) or DEFAULT_BASE_URL
        shown_url = _shown_url(self._base_url)
        import openai  # noqa: PLC0415 - it takes a second, and most commands need no model

        self._sdk = openai
        self._key, self._model, self._prices = key, model, prices
        self._request_timeout_s = request_timeout_s
        self._sampling = {} if temperature is None else {"temperature": temperature}
        self._description = AgentDescription(
            kind="openai",
            name="openai",
            model=model,
            isolation=ISOLATION,
            settings={"base_url": shown_url, **self._sampling},
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the SDK: a module cannot be handed to another process."""
        return {name: value for name, value in vars(self).items() if name != "_sdk"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import openai  # noqa: PLC0415 - as above

        vars(self).update(state)
        self._sdk = openai

    @property
    def description(self) -> AgentDescription:
        """Who it is, for the report."""
        return self._description

    def act(self, assignment: Assignment) -> AgentOutcome:
        """Let the model work until done or at a limit; see `Agent.act`.

        Raises:
            PrerequisiteError: kubectl cannot be executed.
        """
        agent_dir = assignment.agent_dir
        save_prompt(agent_dir, assignment.prompt)
        secrets = (self._key, *assignment.workspace.secrets)
        workspace = replace(assignment.workspace, secrets=secrets)
        began_s = SYSTEM_CLOCK.monotonic_s()
        with asyncio.Runner() as runner:
            client = self._sdk.AsyncOpenAI(
                api_key=self._key, base_url=self._base_url, max_retries=MAX_RETRIES
            )
            try:
                talk = Conversation(
                    ask=partial(self._ask, runner, client),
                    kubectl=partial(run_kubectl, workspace=workspace),
                    record=partial(_record, agent_dir / TRANSCRIPT_FILE, secrets),
                    limits=assignment.limits,
                )
                error = talk.run(assignment.prompt)
            finally:
                runner.run(client.close())
        usage = total(tuple(talk.usages))
        outcome = AgentOutcome(
            error=None if error is None else masked(error, secrets),
            seconds=SYSTEM_CLOCK.monotonic_s() - began_s,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            turns=talk.turns,
            cost_usd=self._prices.cost_usd(usage) if self._prices else None,
            survivors=talk.survivors,
            timed_out=talk.timed_out,
        )
        return save_usage(agent_dir, outcome)

    def _ask(
        self,
        runner: asyncio.Runner,
        client: openai.AsyncOpenAI,
        messages: Sequence[Mapping[str, Any]],
        *,
        timeout_s: float,
    ) -> Reply:
        async def request() -> str:
            # The SDK's own time-out is one for each read, and for each try; this one is for all.
            async with asyncio.timeout(timeout_s):
                answer = await client.chat.completions.with_raw_response.create(
                    model=self._model,
                    messages=messages,  # type: ignore[arg-type]  # plain JSON, as on the wire
                    tools=TOOLS,  # type: ignore[arg-type]  # plain JSON, as on the wire
                    timeout=min(timeout_s, self._request_timeout_s),
                    extra_body=self._sampling,
                )
                return answer.text

        sdk = self._sdk
        try:
            return parse_reply(runner.run(request()))
        except sdk.APITimeoutError as error:
            msg = f"the API did not answer within {self._request_timeout_s:g} s"
            raise AgentError(msg) from error
        except sdk.APIConnectionError as error:
            cause = error.__cause__ or error
            msg = f"the API could not be reached: {self._excerpt(str(cause))}"
            raise AgentError(msg) from error
        except sdk.APIStatusError as error:
            # Not the SDK's own message: it repeats the status, and the body as a Python literal.
            said = self._excerpt(error.response.text)
            msg = f"the API answered {error.status_code}: {said}"
            raise AgentError(msg) from error
        except sdk.OpenAIError as error:
            msg = f"the SDK gave up: {self._excerpt(str(error))}"
            raise AgentError(msg) from error

    def _excerpt(self, text: str) -> str:
        return excerpt(text, (self._key,))


def _shown_url(base_url: str) -> str:
    """Return a URL for the report, without user, password and query."""
    try:
        url = urlsplit(base_url)
        usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError as error:  # a port that is no number; brackets that are not closed
        msg = f"base URL: {str(error).lower()}"
        raise ConfigError(msg, hint="give the URL that ends in /v1") from error
    if not usable:
        msg = "base URL has no host, expected http://HOST:PORT/v1 or https://HOST/v1"
        raise ConfigError(msg, hint="give the URL that ends in /v1")
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"


def _record(path: Path, secrets: Sequence[str], message: Mapping[str, Any]) -> None:
    append_line(path, {"at": SYSTEM_CLOCK.now().isoformat(), "message": _masked(message, secrets)})


def _masked(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return masked(value, secrets)
    if isinstance(value, Mapping):
        return {key: _masked(item, secrets) for key, item in value.items()}
    return [_masked(item, secrets) for item in value] if isinstance(value, list) else value
